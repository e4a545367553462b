"""
Neuroscientist: from images to a map, and how far to trust it
=============================================================

A subject looks at houses and at faces while her brain is scanned. Can the two be told from the
images, better than by chance, in a run that the decoder never saw? Which voxels carry it, and how
sure is each? At the end there are maps to keep as NIfTI images, and what to write about them.

The images: one slice of the recordings of Haxby et al. (2001). Where they are not on the machine
this page shows a small simulated brain instead. It needs ``pip install 'ksupport[fmri]'``.
"""

# %%
# Images, labels and runs
# -----------------------
# What nilearn takes: a 4-D image with a label and a run for each volume, and a mask.

import tempfile
import warnings
from pathlib import Path
from textwrap import fill

import numpy as np
from nilearn.decoding import Decoder
from nilearn.image import concat_imgs, index_img, load_img, mean_img
from sklearn.model_selection import LeaveOneGroupOut

from ksupport import NoSignalWarning
from ksupport.datasets import DatasetUnavailableError, fetch_haxby
from ksupport.fmri import KSupportDecoder, make_brain, plot_maps, to_image

try:
    files = fetch_haxby(subset="slice")
    lines = Path(files.attributes_path).read_text().split()
    labels, runs = np.array(lines[::2]), np.array(lines[1::2], dtype=int)
    seen = np.isin(labels, ["face", "house"]) & (runs < 6)  # six runs, to be quick
    labels, runs = labels[seen], runs[seen]
    images, mask = index_img(load_img(files.bold_path), seen), load_img(files.mask_path)
    background, cut = mean_img(images), 0.0
except DatasetUnavailableError:
    brain = make_brain(72, 2000, n_active=30, n_runs=6, random_state=0)
    images = concat_imgs([to_image(100 + row, brain.mask_img) for row in brain.data])
    labels, runs = np.where(brain.target > 0, "house", "face"), brain.run
    mask, background, cut = brain.mask_img, None, -12.0

voxels = int(mask.get_fdata().sum())
print(f"{len(labels)} volumes of {voxels} voxels, {len(np.unique(runs))} runs")

# %%
# Is there anything?
# ------------------
# Each run is left out once, and predicted by a decoder of the others. Volumes of a run resemble
# one another: to hold out single volumes would promise too much. Beside ours stands nilearn's own
# decoder, a support vector machine on all voxels.


def left_out(decoder, images, labels):
    """The share of right answers on each run, with the decoder fitted on the others."""
    shares = []
    for train, test in LeaveOneGroupOut().split(labels, groups=runs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a map is made although there is no signal
            decoder.fit(index_img(images, train), labels[train], groups=runs[train])
        shares.append(np.mean(decoder.predict(index_img(images, test)) == labels[test]))
    return np.array(shares)


decoders = {
    "ksupport": KSupportDecoder("auto", mask=mask, cv=4),
    "support vectors": Decoder("svc", mask=mask, cv=4, standardize="zscore_sample"),
}
for name, decoder in decoders.items():
    shares = left_out(decoder, images, labels)
    error = shares.std(ddof=1) / np.sqrt(len(shares))
    print(f"{name:15} {shares.mean():.0%} right, give or take {error:.0%}; by chance 50%")

# %%
# The same with labels in another order within each run, where nothing is to be found. A
# ``NoSignalWarning`` says so, and no voxel is chosen.

rng = np.random.default_rng(0)
shuffled = labels.copy()
for run in np.unique(runs):
    shuffled[runs == run] = rng.permutation(labels[runs == run])
with warnings.catch_warnings():
    warnings.simplefilter("ignore", NoSignalWarning)
    nothing = KSupportDecoder("auto", mask=mask, cv=4).fit(images, shuffled, groups=runs)
print(f"voxels chosen for shuffled labels: {np.count_nonzero(nothing.coef_)}")

# %%
# Which voxels, and how sure
# --------------------------
# Fitted on all runs. The model behind the decoder is an ``AutoIRKSNClassifier``: it gives each
# voxel a probability of belonging to the model, and says which ones could stand in for others.

decoder = KSupportDecoder("auto", mask=mask, cv=4).fit(images, labels, groups=runs)
model = decoder.estimators_[0]
print(fill(str(model.decision_), 80))

signs = np.where(decoder.coef_[0] < 0, -1, 1)
probability = to_image(model.probability_ * signs, mask)
figure = plot_maps(
    {"probability, with the sign of the weight": probability},
    background=background,
    threshold=0.1,
    cut=cut,
    limit=1.0,
    label="probability",
    title="speaks for house (red) or face (blue)",
)

# %%
# Neighbours say much the same. A set holds correlated voxels, and its probability is that one or
# more of them matter, whichever they are:

sets = [each for each in model.sets_ if len(each.features) > 1]
print(f"{len(sets)} sets of several voxels")
for each in sets[:4]:
    print(f"{each.probability:.0%}  {len(each.features)} voxels: {each.features[:6]}")

# %%
# The region rather than its best voxels
# --------------------------------------
# To see the whole region, say how large it is: ``k`` voxels are looked for, and folds of runs
# choose only where to stop. A Lasso, beside them, puts most of its weight on single voxels.

regions = {
    "AutoIRKSN": decoder,
    "IRKSN, k=30": KSupportDecoder(k=30, mask=mask, cv=4).fit(images, labels, groups=runs),
    "Lasso": KSupportDecoder("lasso", mask=mask, cv=4).fit(images, labels, groups=runs),
}
figure = plot_maps(
    {name: each.z_img_["house"] for name, each in regions.items()},
    background=background,
    threshold=decoder.threshold_,
    cut=cut,
    title="voxels that speak for house (red) or face (blue)",
)
for name, each in regions.items():
    print(f"{name:12} {np.count_nonzero(each.coef_)} voxels")

# %%
# To keep
# -------

folder = Path(tempfile.mkdtemp())
decoder.z_img_["house"].to_filename(folder / "house_z.nii.gz")
probability.to_filename(folder / "house_probability.nii.gz")
print(sorted(path.name for path in folder.iterdir()))

# %%
# What to write: how many runs were left out one by one and what share was right, with its standard
# error; that voxels have probabilities, and which could stand in for each other. What not to
# write: that the map is a test. A decoder finds what suffices to predict, not all that responds;
# for voxels with a bounded share of errors there is :func:`ksupport.fmri.encludl`, and
# :doc:`/user_guide/fmri` says how maps are made and thresholded.
