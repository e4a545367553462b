"""The decoder: its maps show the voxels that respond, and it refuses what it cannot use."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.utils import get_tags

from ksupport import METHODS
from ksupport.fmri import KSupportDecoder, usable_mask, z_map


def fitted(session, **params):
    decoder = KSupportDecoder(mask=session.mask_img, cv=2, max_iter=200, **params)
    return decoder.fit(session.bold, session.labels, groups=session.runs)


def strongest(image, count):
    values = image.get_fdata()
    order = np.argsort(values, axis=None)[::-1][:count]
    return {tuple(int(i) for i in np.unravel_index(at, values.shape)) for at in order}


def test_maps_of_a_class_are_strongest_where_it_shows(session):
    decoder = fitted(session, k=4)
    for name, places in session.places.items():
        for image in (decoder.coef_img_[name], decoder.z_img_[name]):
            assert strongest(image, 2) == set(places)


def test_a_notebook_shows_how_many_voxels_were_found(session):
    decoder = fitted(session, k=4)
    page = decoder._repr_html_()
    assert "KSupportDecoder: face against house, 24 voxels" in page
    assert f"<td>house</td><td>{np.count_nonzero(decoder.coef_)}</td>" in page
    assert "24 voxels" not in KSupportDecoder()._repr_html_()


def test_of_two_classes_the_maps_are_opposite(session):
    decoder = fitted(session, k=4)
    for maps in (decoder.coef_img_, decoder.z_img_, decoder.thresholded_img_):
        np.testing.assert_array_equal(maps["face"].get_fdata(), -maps["house"].get_fdata())


def test_thresholded_map_is_the_z_map_beyond_the_threshold(session):
    decoder = fitted(session, k=4)
    z = decoder.z_img_["house"].get_fdata()
    kept = decoder.thresholded_img_["house"].get_fdata()
    np.testing.assert_array_equal(kept, np.where(np.abs(z) > decoder.threshold_, z, 0))
    np.testing.assert_allclose(z[session.mask], z_map(decoder.coef_[0]))


@pytest.mark.parametrize("method", [*METHODS, "auto"])
def test_every_method_decodes_runs_that_it_has_not_seen(session, method):
    from nilearn.image import index_img

    train, test = next(LeaveOneGroupOut().split(session.labels, groups=session.runs))
    decoder = KSupportDecoder(method, mask=session.mask_img, cv=3, max_iter=200)
    decoder.fit(index_img(session.bold, train), session.labels[train], session.runs[train])
    assert decoder.score(index_img(session.bold, test), session.labels[test]) >= 0.9


def test_more_classes_are_told_apart_one_against_the_rest(three_classes):
    decoder = fitted(three_classes, k=6)
    assert decoder.coef_.shape == (3, three_classes.mask.sum())
    assert decoder.decision_function(three_classes.bold).shape == (len(three_classes.labels), 3)
    assert decoder.score(three_classes.bold, three_classes.labels) > 0.9
    for name, places in three_classes.places.items():
        assert strongest(decoder.coef_img_[name], 2) == set(places)


def test_maps_come_back_from_disk_with_their_affine(session, nibabel, tmp_path):
    decoder = fitted(session, k=4)
    for maps in (decoder.coef_img_, decoder.z_img_, decoder.thresholded_img_):
        maps["house"].to_filename(tmp_path / "map.nii.gz")
        read = nibabel.load(tmp_path / "map.nii.gz")
        np.testing.assert_allclose(read.affine, session.affine)
        np.testing.assert_array_equal(read.get_fdata(), maps["house"].get_fdata())
        assert not read.get_fdata()[~session.mask].any()


def test_paths_and_lists_do_as_well_as_images(session, tmp_path):
    from nilearn.image import iter_img

    session.bold.to_filename(tmp_path / "bold.nii.gz")
    session.mask_img.to_filename(tmp_path / "mask.nii.gz")
    expected = fitted(session, k=4).coef_
    decoder = KSupportDecoder(mask=tmp_path / "mask.nii.gz", k=4, cv=2, max_iter=200)
    decoder.fit(str(tmp_path / "bold.nii.gz"), session.labels, session.runs)
    np.testing.assert_allclose(decoder.coef_, expected)
    decoder = clone(decoder).fit(list(iter_img(session.bold)), session.labels, session.runs)
    np.testing.assert_allclose(decoder.coef_, expected, rtol=1e-3)  # joined in single precision


def test_a_masker_brings_its_own_settings(session):
    from nilearn.maskers import NiftiMasker

    masker = NiftiMasker(session.mask_img, standardize="zscore_sample", reports=False)
    decoder = KSupportDecoder(mask=masker, k=4, cv=2, max_iter=200)
    decoder.fit(session.bold, session.labels, session.runs)
    np.testing.assert_allclose(decoder.coef_, fitted(session, k=4).coef_)


def test_without_a_mask_the_brain_is_found(session):
    session.data[~session.mask] = np.random.default_rng(0).normal(1.0, 0.01, (96, 40))
    decoder = KSupportDecoder(k=4, cv=2, max_iter=100)
    decoder.fit(session.bold, session.labels, session.runs)
    assert decoder.coef_.shape[1] == int(decoder.mask_img_.get_fdata().sum())


def test_smoothing_spreads_the_weights(session):
    sharp, smooth = fitted(session, k=4), fitted(session, k=4, smoothing_fwhm=6.0)
    assert not np.allclose(sharp.coef_, smooth.coef_)


def test_runs_are_not_split_between_folds(session):
    seen = []

    class Spy(LeaveOneGroupOut):
        def split(self, X, y=None, groups=None):
            seen.append(groups)
            return super().split(X, y, groups)

    KSupportDecoder(mask=session.mask_img, k=4, cv=Spy(), max_iter=50).fit(
        session.bold, session.labels, session.runs
    )
    np.testing.assert_array_equal(seen[0], session.runs)


def test_k_and_alpha_are_chosen_where_several_are_given(session):
    decoder = fitted(session, k=[1, 4], alpha=[1e-2, 1e-1])
    assert decoder.estimators_[0].k_ in (1, 4)
    assert decoder.estimators_[0].alpha_ in (1e-2, 1e-1)


# -- as an estimator of nilearn ------------------------------------------------------------

EXCUSED = {
    "check_tags": "scikit-learn before 1.6 asked for tags by another name",
    "check_doc_link": "the manual is not nilearn's",
    "check_decoder_estimator_args": "parameters of a method are called params",
    "check_decoder_with_surface_data": "volumes only",
    "check_img_estimator_standardization": "the models standardize voxels anyway",
}


def test_nilearn_s_own_checks_pass(nibabel):
    pytest.importorskip("numpydoc")  # they read the docstring with it
    checks = pytest.importorskip("nilearn._utils.estimator_checks")
    decoder = KSupportDecoder(k=4, cv=2, max_iter=50)
    passed = set()
    for estimator, check in checks.nilearn_check_generator(decoder):
        if check.__name__ not in EXCUSED:
            with warnings.catch_warnings(action="ignore"):  # its data are of all kinds
                check(estimator)
            passed.add(check.__name__)
    assert len(passed) >= 28


def test_scikit_learn_and_nilearn_are_told_that_it_takes_images():
    tags = get_tags(KSupportDecoder()).input_tags
    assert tags.niimg_like
    assert not tags.two_d_array
    assert not tags.surf_img


@pytest.mark.parametrize("how", ["zscore_sample", "psc", None, False])
def test_images_seen_together_are_decoded_alike_however_standardized(session, how):
    expected = fitted(session, k=4).decision_function(session.bold)
    scores = fitted(session, k=4, standardize=how).decision_function(session.bold)
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


def test_an_unknown_way_to_standardize_is_refused_with_those_there_are(session):
    with pytest.raises(ValueError, match=r"True, False or one of .*'psc'.*got 'nonsense'"):
        fitted(session, k=4, standardize="nonsense")


def test_rows_of_the_masker_do_as_well_as_images(session):
    decoder = fitted(session, k=4)
    rows = decoder.masker_.transform(session.bold)
    np.testing.assert_array_equal(decoder.predict(rows), decoder.predict(session.bold))
    assert rows.shape[1] == decoder.n_elements_ == 24
    with pytest.raises(ValueError, match="X has 23 features per sample; expecting 24"):
        decoder.predict(rows[:, 1:])


def test_it_says_more_the_more_is_asked(session, capsys):
    said = []
    for verbose in range(4):
        fitted(session, k=4, verbose=verbose)
        said.append(capsys.readouterr().out)
    assert said[0] == ""
    assert said[1] == "[KSupportDecoder.fit] 40 volumes of 24 voxels, 2 classes\n"
    assert "Extracting region signals" in said[2]
    assert said[3].splitlines()[-1].startswith("[KSupportDecoder.fit] Cross-validation chose")


# -- what is refused -----------------------------------------------------------------------


def refused(session, match, **params):
    decoder = KSupportDecoder(**{"mask": session.mask_img, "cv": 2, "k": 4, **params})
    with pytest.raises(ValueError, match=match):
        decoder.fit(session.bold, session.labels, session.runs)


def test_mask_of_another_shape(session, nibabel):
    mask = nibabel.Nifti1Image(np.ones((5, 5, 4), np.uint8), session.affine)
    refused(session, r"mask must have the shape \(6, 5, 4\).*got \(5, 5, 4\)", mask=mask)


def test_mask_of_another_affine(session, nibabel):
    mask = nibabel.Nifti1Image(session.mask.astype(np.uint8), np.eye(4))
    refused(session, "different affines", mask=mask)


def test_empty_mask(session, nibabel):
    mask = nibabel.Nifti1Image(np.zeros(session.shape, np.uint8), session.affine)
    refused(session, "mask has no voxel", mask=mask)


def test_voxels_that_are_not_finite(session):
    session.data[2, 2, 2, 7] = np.nan
    refused(session, r"1 of 24 voxels in the mask hold NaN.*first at \(2, 2, 2\)")
    session.data[2, 2, 2, 7] = np.inf
    refused(session, "hold NaN or infinity")


def test_constant_voxels(session):
    session.data[3, 1, 1] = 100.0
    refused(session, r"1 of 24 voxels in the mask are constant.*\(3, 1, 1\)")


def test_usable_mask_leaves_out_what_is_refused(session):
    session.data[3, 1, 1] = 100.0
    session.data[4, 3, 2, 0] = np.nan
    mask = usable_mask(session.bold, session.mask_img)
    np.testing.assert_allclose(mask.affine, session.affine)
    expected = session.mask.copy()
    expected[3, 1, 1] = expected[4, 3, 2] = False
    np.testing.assert_array_equal(mask.get_fdata() != 0, expected)
    session.mask = expected
    assert fitted(session, k=4).coef_.shape == (1, 22)


def test_labels_that_do_not_match(session):
    session.labels = session.labels[:-1]
    refused(session, r"y must have one entry for each of the 40 volumes, got shape \(39,\)")


def test_groups_that_do_not_match(session):
    session.runs = session.runs[:-1]
    refused(session, "groups must have one entry for each of the 40 volumes")


def test_one_class_only(session):
    session.labels = np.full(40, "face")
    refused(session, r"at least two classes, got only \['face'\]")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (np.r_[np.nan, np.arange(39) % 2], "Input y contains NaN"),
        (np.linspace(0, 1, 40), "Unknown label type: continuous"),
    ],
)
def test_labels_that_are_none(session, labels, message):
    session.labels = labels
    refused(session, message)


def test_images_without_volumes_and_on_surfaces(session, nibabel):
    surface = pytest.importorskip("nilearn.surface")
    session.data = session.data[..., :0]
    refused(session, r"images are empty: their shape is \(6, 5, 4, 0\)")
    mesh = surface.InMemoryMesh(np.eye(3), np.array([[0, 1, 2]]))
    image = surface.SurfaceImage(
        {"left": mesh, "right": mesh}, {"left": np.ones((3, 4)), "right": np.ones((3, 4))}
    )
    with pytest.raises(TypeError, match="compatible types, here volumes; got a SurfaceImage"):
        KSupportDecoder().fit(image, [0, 1, 0, 1])


def test_unknown_method(session):
    refused(session, "method must be 'auto' or one of irksn", method="svm")


def test_parameters_that_a_method_does_not_have(session):
    refused(session, "method 'lasso' has no parameter 'k'", method="lasso")
    refused(session, "method='auto' chooses k itself", method="auto")


def test_one_volume_cannot_be_standardized(session):
    from nilearn.image import index_img

    decoder = fitted(session, k=4)
    with pytest.raises(ValueError, match="one volume cannot be standardized"):
        decoder.predict(index_img(session.bold, 0))


def test_images_to_predict_must_fit_the_mask(session, nibabel):
    decoder = fitted(session, k=4)
    other = nibabel.Nifti1Image(session.data[:, :4], session.affine)
    with pytest.raises(ValueError, match="mask must have the shape"):
        decoder.predict(other)
