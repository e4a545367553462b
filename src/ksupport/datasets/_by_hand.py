"""Datasets without an address that lasts: where they come from, and what their file must hold."""

from __future__ import annotations

from ._info import NO_LICENCE, DatasetInfo

_HIV = (
    "The gene data and the lists of mutations are part of the analysis of 2006 that the HIV Drug "
    "Resistance Database (Stanford) has published (genophenoPNAS2006: DATA and MUTATIONLISTS); "
    "mutations known to be selected by treatment are in its repository hivfacts. The file to make "
    "of them, {name}.npz, holds X (0 or 1 for each isolate and mutation), Y (fold resistance, NaN "
    "where it was not measured), drugs (the columns of Y), feature_names, position, truth (bool) "
    "and truth_positions."
)
_RHEE = (
    "Rhee et al. (2006), Genotypic predictors of human immunodeficiency virus type 1 drug "
    "resistance, PNAS 103"
)

BY_HAND = (
    DatasetInfo(
        name="colon",
        description="Tumours and normal tissues of the colon, 1 and 0, from 2000 gene expressions",
        shape=(62, 2000),
        files=(),
        citation="Alon et al. (1999), Broad patterns of gene expression revealed by clustering "
        "analysis of tumor and normal colon tissues, PNAS 96",
        licence=NO_LICENCE,
        content_sha256="0cafda89cba5f0a943f5e93539f4abe630c88d966afdfbd1600fc0857042769f",
        how_to_get="The authors' page at Princeton offers the matrix I2000 of raw intensities and "
        "the tissues; Bioconductor's package colonCA has the same numbers. The file to make of "
        "them, colon.npz, holds X (62 x 2000) and y (1 for a tumour).",
    ),
    DatasetInfo(
        name="khan",
        description="Four kinds of small round blue cell tumours, 0 to 3, from 2308 genes",
        shape=(63, 2308),
        files=(),
        citation="Khan et al. (2001), Classification and diagnostic prediction of cancers using "
        "gene expression profiling and artificial neural networks, Nature Medicine 7",
        licence=NO_LICENCE,
        content_sha256="5376c210d7c659336c7377e61dc604d9e973c9c3a37ca6b24e44288693cb9f1a",
        how_to_get="The R package ISLR has it: data(Khan, package='ISLR'). The file to make of its "
        "training part, khan.npz, holds X (Khan$xtrain) and y (Khan$ytrain less 1).",
    ),
    DatasetInfo(
        name="hiv_pi",
        description="Resistance of HIV-1 to seven protease inhibitors from 361 mutations; those "
        "selected by treatment are known",
        shape=(846, 361),
        files=(),
        citation=_RHEE,
        licence=NO_LICENCE,
        content_sha256="b2a096b99034aa7a7cddd1036b0b5d66a23811da212fb3e22cbb044c26277ad5",
        how_to_get=_HIV.format(name="hiv_pi"),
        n_targets=7,
    ),
    DatasetInfo(
        name="hiv_nnrti",
        description="Resistance of HIV-1 to three inhibitors of reverse transcriptase from 655 "
        "mutations; those selected by treatment are known",
        shape=(745, 655),
        files=(),
        citation=_RHEE,
        licence=NO_LICENCE,
        content_sha256="3724caa86dbacac5057dfb19eaacf718eca98b2fb8ab49ff4c1b67c2031c7870",
        how_to_get=_HIV.format(name="hiv_nnrti"),
        n_targets=3,
    ),
    DatasetInfo(
        name="spike_in_u133",
        description="Concentrations (log2) of transcripts added to 42 arrays from 500 probe sets; "
        "the three of each profile are known",
        shape=(42, 500),
        files=(),
        citation="McCall and Irizarry (2008), Consolidated strategy for the analysis of microarray "
        "spike-in data, Nucleic Acids Research 36",
        licence=NO_LICENCE,
        content_sha256="c00f33c120a7d3cc77e94319f2af25717883bd608a760dd5cc8859eaeca06cc7",
        how_to_get="Bioconductor's package spkTools and its data have Affymetrix' spike-in arrays "
        "(HG-U133A). The file to make of them, spike_in_u133.npz, holds X (42 x 500 expressions), "
        "Y (42 x 14 log2 concentrations), truth (14 x 500, bool) and feature_names.",
        n_targets=14,
    ),
    DatasetInfo(
        name="finemapping_n3",
        description="Two simulated traits with three causes each among 1001 linked genotypes",
        shape=(574, 1001),
        files=(),
        citation="Wang, Sarkar, Carbonetto and Stephens (2020), A simple new approach to variable "
        "selection in regression, with application to genetic fine mapping, JRSS B 82",
        licence="the package susieR is under the BSD licence",
        content_sha256="e5c0c069393d1bdff64089b95acdc82d59cd655394a2b341ee76ea64b5d2c4ed",
        how_to_get="The R package susieR has it: data(N3finemapping, package='susieR'). The file "
        "to make of it, finemapping_n3.npz, holds X, Y (574 x 2), true_coef (1001 x 2) and "
        "position.",
        n_targets=2,
    ),
)
