"""`KSupportDecoder`: from images and labels to brain maps."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, StratifiedKFold
from sklearn.utils import InputTags, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .._common.names import shown
from .._common.phases import phase
from .._common.progress import shows_progress
from .._common.render import Table
from ..algorithms import METHODS
from ..design import Floats
from ..estimators import AutoIRKSNClassifier, IRKSNCVClassifier, PathCV
from ..estimators.checks import all_or_nothing, with_parameters
from ..explain.models import chosen_by
from ..explain.notebook import Finding, ShownInNotebooks
from .images import check_voxels, checked_mask, load_volumes, optional, to_image
from .inference import beyond, z_map, z_threshold

ALPHAS = (1e-2, 1e-1)  # tried for IRKSN where alpha is not given
FOLDS = 5
STANDARDIZE: dict[Any, Any] = {True: "zscore_sample", False: None}  # nilearn's yes and no


@dataclass
class ImageTags(InputTags):
    """What scikit-learn and nilearn ask of an estimator's input: here, images."""

    two_d_array: bool = False
    niimg_like: bool = True
    surf_img: bool = False


@with_parameters
class KSupportDecoder(ShownInNotebooks, ClassifierMixin, BaseEstimator):
    """Predict from brain images what a subject saw, by few voxels, and show which.

    Each class (of two, the second) is separated from all others by a path of one of the methods;
    folds choose where to stop, and whatever else was not given.  "irksn" and "auto" follow the
    logistic loss, so that ``decision_function`` has log odds; other methods, and IRKSN with a
    ``step`` of the theory, squares of -1 and 1.

    Parameters
    ----------
    method : str, default="irksn"
        A name in `ksupport.METHODS`, or "auto" for `ksupport.AutoIRKSNClassifier`.
    k : int or sequence of ints, optional
        Voxels to look for, for methods that have k; None or several: folds choose.
    alpha : float or sequence of floats, optional
        The method's alpha, if it has one; None or several: folds choose.
    params : mapping, optional
        Values, or lists of values to try, of other parameters of the method.
    mask : image, path, NiftiMasker or None
        Voxels to use; None finds the brain in the images.  A masker brings its own settings,
        which then count instead of the next three.
    standardize : bool, "zscore_sample", "psc" or None, default=True
        As nilearn does it: True or "zscore_sample" gives each voxel mean 0 and variance 1 over
        the images of a call (for `predict`, over the images to predict), "psc" the change in
        percent of its mean.
    smoothing_fwhm : float, optional
        Width in mm of the filter that smooths the images.
    memory : joblib.Memory or path, optional
        Where the masker keeps what it computed.
    cv : None, int, splitter or iterable
        Folds.  None: with groups, each is left out once, else 5 stratified folds.  An int: so
        many folds, which keep groups together.
    max_iter : int, default=1000
        Steps to walk at most.
    fwer : float, default=0.1
        For ``thresholded_img_``: chance to show, of all voxels, a single one in error.
    n_jobs : int, optional
        Folds walked at once.
    random_state : int or None, default=0
        Shuffles folds that are not by groups.
    verbose : int, default=0
        1: print what is fitted, and progress of fits longer than two seconds; 2: also messages of
        the masker; 3: also how each model was chosen.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    coef_ : ndarray of shape (1, n_voxels) or (n_classes, n_voxels)
        The weights as numbers.
    coef_img_ : dict of images, by class
        The weights.  They are positive where activity speaks for the class: of two classes,
        the maps of the first are those of the second with the other sign.
    estimators_ : list
        The fitted models, one for each row of ``coef_``.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    mask_img_ : image
        The mask.
    masker_ : NiftiMasker
        The fitted masker.
    n_elements_ : int
        Number of voxels.
    threshold_ : float
        The ``|z|`` beyond which ``thresholded_img_`` shows a voxel.
    thresholded_img_ : dict of images, by class
        Those of the z-values beyond ``threshold_``.
    z_img_ : dict of images, by class
        The z-values of the weights, see `ksupport.fmri.z_map`.

    Examples
    --------
    >>> from ksupport.fmri import KSupportDecoder
    >>> decoder = KSupportDecoder(k=150, mask="mask.nii.gz")
    >>> decoder.fit("bold.nii.gz", labels, groups=runs)  # doctest: +SKIP
    >>> decoder.z_img_["house"].to_filename("z.nii.gz")  # doctest: +SKIP
    """

    _standardize_modes = ("zscore_sample", "psc", None)  # besides True and False

    method: str = "irksn"
    _: KW_ONLY
    k: Any = None
    alpha: Any = None
    params: Mapping[str, Any] | None = None
    mask: Any = None
    standardize: bool | str | None = True
    smoothing_fwhm: float | None = None
    memory: Any = None
    cv: Any = None
    max_iter: int = 1000
    fwer: float = 0.1
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = ImageTags()
        return tags

    @all_or_nothing
    @shows_progress
    def fit(self, niimgs: Any, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Find the voxels that distinguish the classes.

        Parameters
        ----------
        niimgs : 4-D image, path, or list of images or paths
            The volumes.
        y : array of shape (n_volumes,)
            The label of each volume.
        groups : array of shape (n_volumes,), optional
            The run of each volume: folds do not split runs.

        Returns
        -------
        self
        """
        volumes = load_volumes(niimgs)
        labels = _checked_labels(y, volumes.shape[3])
        runs = None if groups is None else _of_length("groups", groups, volumes.shape[3])
        model = self._model(self._folds(runs))
        X = self._fit_masker(volumes)
        self.n_elements_ = X.shape[1]
        self.threshold_ = z_threshold(self.fwer, X.shape[1])
        self.classes_ = np.unique(labels)
        self._say(1, f"{len(X)} volumes of {X.shape[1]} voxels, {len(self.classes_)} classes")
        shown = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        with phase("classes", len(shown)) as update:
            self.estimators_ = []
            for each in shown:
                target = np.where(labels == each, 1.0, -1.0)
                self.estimators_.append(clone(model).fit(X, target, groups=runs))
                update(len(self.estimators_))
        self.coef_ = np.stack([np.ravel(each.coef_) for each in self.estimators_])
        self.intercept_ = np.concatenate([np.ravel(each.intercept_) for each in self.estimators_])
        self._say(3, *(chosen_by(each).words for each in self.estimators_))
        self._draw()
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "z_img_")  # the last that a fit makes

    def decision_function(self, niimgs: Any) -> Floats:
        """How much each volume speaks for each class; of two classes, for the second.

        Here and below, an array of rows that ``masker_`` made of volumes may take their place.

        Parameters
        ----------
        niimgs : 4-D image, path, or list of images or paths
            The volumes, or an array of rows that ``masker_`` made of them.

        Returns
        -------
        ndarray of shape (n_volumes,) or (n_volumes, n_classes)
        """
        check_is_fitted(self)
        scores = self._voxels(niimgs) @ self.coef_.T + self.intercept_
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)

    def predict(self, niimgs: Any) -> NDArray[Any]:
        """The most likely class of each volume.

        Parameters
        ----------
        niimgs : 4-D image, path, or list of images or paths
            The volumes, or an array of rows that ``masker_`` made of them.

        Returns
        -------
        ndarray of shape (n_volumes,)
        """
        scores = self.decision_function(niimgs)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of volumes whose class is predicted rightly.

        Parameters
        ----------
        X : 4-D image, path, or list of images or paths
            The volumes, or an array of rows that ``masker_`` made of them.
        y : array of shape (n_volumes,)
            Their labels.
        sample_weight : array of shape (n_volumes,), optional
            Weights of the volumes.

        Returns
        -------
        float
        """
        predicted = self.predict(X)
        right = predicted == _of_length("y", y, len(predicted))
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        return float(np.average(right, weights=weights))

    def _say(self, level: int, *lines: str) -> None:
        """Print lines at this level of verbosity, as nilearn's estimators do."""
        if self.verbose >= level:
            for line in lines:
                print(f"[{type(self).__name__}.fit] {line}")

    def _finding(self) -> Finding:
        names = [shown(str(name)) for name in self.classes_]
        voxels, total = np.count_nonzero(self.coef_, axis=1), self.coef_.shape[1]
        rows = [
            (name, str(count), chosen_by(model).words)
            for name, count, model in zip(
                names[-len(voxels) :], voxels, self.estimators_, strict=True
            )
        ]
        title = f"{type(self).__name__}: {' against '.join(names)}, {total} voxels"
        words = ["The maps are in coef_img_, z_img_ and thresholded_img_, by class."]
        return title, words, [Table("Models", ("for", "voxels", "how it was chosen"), rows)]

    # -- the model -------------------------------------------------------------------------

    def _model(self, cv: Any) -> Any:
        """The selecting estimator that these parameters ask for."""
        common = {
            "cv": cv,
            "max_iter": self.max_iter,
            "n_jobs": self.n_jobs,
            "random_state": self.random_state,
            "verbose": bool(self.verbose),
        }
        given = {"k": self.k, "alpha": self.alpha}
        params = {name: value for name, value in given.items() if value is not None}
        params |= dict(self.params or {})
        if self.method == "auto":
            if params:
                raise ValueError(
                    f"method='auto' chooses {', '.join(params)} itself; leave it out, or "
                    "use method='irksn'"
                )
            return AutoIRKSNClassifier(**common)
        if self.method not in METHODS:
            raise ValueError(
                f"method must be 'auto' or one of {', '.join(METHODS)}; got {self.method!r}"
            )
        if self.method == "irksn" and set(params) <= {"k", "alpha"}:
            params = {"k": "auto", "alpha": list(ALPHAS), **params}
            return IRKSNCVClassifier(**params, refit=None, **common)
        known = METHODS[self.method].describe().parameters
        for name in params:
            if name not in known:
                raise ValueError(
                    f"method {self.method!r} has no parameter {name!r}; it takes {', '.join(known)}"
                )
        return PathCV(self.method, params or None, **common)

    def _folds(self, groups: NDArray[Any] | None) -> Any:
        if self.cv is not None and not isinstance(self.cv, numbers.Integral):
            return self.cv
        if groups is not None:
            return LeaveOneGroupOut() if self.cv is None else GroupKFold(int(self.cv))
        count = FOLDS if self.cv is None else int(self.cv)
        return StratifiedKFold(count, shuffle=True, random_state=self.random_state)

    # -- images ----------------------------------------------------------------------------

    @phase("masking the volumes")
    def _fit_masker(self, volumes: Any) -> Floats:
        """Find or check the mask, and take the voxels out."""
        maskers = optional("nilearn.maskers")
        if isinstance(self.mask, maskers.NiftiMasker):
            self.masker_ = clone(self.mask)
        else:
            self.masker_ = maskers.NiftiMasker(
                mask_img=None if self.mask is None else checked_mask(self.mask, volumes),
                standardize=STANDARDIZE.get(self.standardize, self.standardize),
                smoothing_fwhm=self.smoothing_fwhm,
                memory=self.memory,
                verbose=max(self.verbose - 1, 0),
                reports=False,
            )
        self.masker_.fit(volumes if self.masker_.mask_img is None else None)
        self.mask_img_ = checked_mask(self.masker_.mask_img_, volumes)
        return self._masked(volumes, constant_is_wrong=True)

    def _voxels(self, niimgs: Any) -> Floats:
        """The voxels of new volumes, a row for each."""
        if isinstance(niimgs, np.ndarray):
            return _checked_rows(niimgs, self.n_elements_)
        volumes = load_volumes(niimgs)
        checked_mask(self.mask_img_, volumes)
        if volumes.shape[3] == 1 and self.masker_.standardize:
            raise ValueError(
                "one volume cannot be standardized by itself: predict all volumes of a run "
                "together, or standardize the recordings first and set standardize=False"
            )
        return self._masked(volumes)

    def _masked(self, volumes: Any, constant_is_wrong: bool = False) -> Floats:
        check_voxels(volumes, self.mask_img_, constant=constant_is_wrong)
        return np.asarray(self.masker_.transform(volumes), np.float64)

    def _draw(self) -> None:
        """Make the maps of every class."""
        weights = dict(zip(self.classes_[-len(self.coef_) :], self.coef_, strict=True))
        if len(self.classes_) == 2:
            weights[self.classes_[0]] = -self.coef_[0]
        z = {name: z_map(w) for name, w in weights.items()}
        self.coef_img_ = {name: to_image(w, self.mask_img_) for name, w in weights.items()}
        self.z_img_ = {name: to_image(each, self.mask_img_) for name, each in z.items()}
        self.thresholded_img_ = {
            name: to_image(beyond(each, self.threshold_), self.mask_img_)
            for name, each in z.items()
        }


def _checked_rows(rows: NDArray[Any], n_voxels: int) -> Floats:
    X = check_array(rows, dtype=np.float64, input_name="X")
    if X.shape[1] != n_voxels:
        raise ValueError(
            f"X has {X.shape[1]} features per sample; expecting {n_voxels}, one for each voxel "
            "of mask_img_: give images, or rows that masker_ made of them"
        )
    return np.asarray(X)


def _of_length(name: str, values: ArrayLike, n_volumes: int) -> NDArray[Any]:
    array = check_array(values, ensure_2d=False, dtype=None, input_name=name)
    if array.shape != (n_volumes,):
        raise ValueError(
            f"images and {name} have inconsistent numbers of samples: {name} must have one entry "
            f"for each of the {n_volumes} volumes, got shape {array.shape}"
        )
    return np.asarray(array)


def _checked_labels(y: ArrayLike, n_volumes: int) -> NDArray[Any]:
    if y is None:
        raise ValueError(
            "KSupportDecoder requires y to be passed, but the target y is None: give the label "
            "of each volume"
        )
    labels = _of_length("y", y, n_volumes)
    check_classification_targets(labels)
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least two classes, got only {classes.tolist()}: keep volumes of "
            "the conditions to compare"
        )
    return labels
