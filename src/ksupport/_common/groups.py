"""`feature_groups=`: which features belong together."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .names import listed, shown

Groups = ArrayLike | Sequence[Sequence[Any]] | None


def hashable(groups: Any) -> Any:
    """Groups as a hashable tuple of labels, or of tuples of members."""
    if isinstance(groups, Mapping):
        groups = _lists_of(groups)
    if not _is_list(groups):
        return groups
    return tuple(tuple(each) if _is_list(each) else _plain(each) for each in groups)


def labels_of(groups: Any, d: int, names: Sequence[str] | None = None) -> tuple[int, ...]:
    """The group of each feature as a number, from 0 on, in order of first appearance.

    ``groups`` are d labels (a series indexed by all names may have any order), lists of names or
    numbers of features, or a mapping from features to labels.  Other features are groups of one.
    """
    if not isinstance(groups, Mapping) and _names_all(groups, names):
        groups = dict(zip(groups.index, groups, strict=True))
    if isinstance(groups, Mapping):
        return _from_lists(_lists_of(groups), d, names)
    if not _is_list(groups):
        raise ValueError(
            "feature_groups must be None, a label for each feature or lists of features, got "
            f"{groups!r}"
        )
    given = list(groups)
    lists = [each for each in given if _is_list(each)]
    if not lists and given:
        return _numbered([_plain(each) for each in given], d)
    if len(lists) < len(given):
        odd = next(each for each in given if not _is_list(each))
        raise ValueError(
            f"feature_groups mixes lists with {odd!r}; give lists of features (a list of one for a "
            "feature by itself, or none at all), or a label for each feature"
        )
    return _from_lists(lists, d, names)


def _names_all(groups: Any, names: Sequence[str] | None) -> bool:
    """Whether this is a pandas series whose index has the names of all features."""
    index = getattr(groups, "index", None)
    if names is None or index is None or callable(index):
        return False
    return len(index) == len(names) and set(index) == set(names)


def _lists_of(groups: Mapping[Any, Any]) -> list[list[Any]]:
    """The members of each group."""
    lists: dict[Any, list[Any]] = {}
    for feature, label in groups.items():
        if label is None or label != label:
            raise ValueError(f"feature_groups has no label for {feature!r}; leave it out")
        lists.setdefault(_plain(label), []).append(feature)
    return list(lists.values())


def _is_list(each: Any) -> bool:
    return isinstance(each, Iterable) and not isinstance(each, str | bytes)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _numbered(labels: list[Any], d: int) -> tuple[int, ...]:
    """Labels as numbers, in order of first appearance."""
    if len(labels) != d:
        raise ValueError(
            f"feature_groups has {len(labels)} labels, but X has n_features={d}; give one for each "
            "feature, or lists of features"
        )
    missing = [i for i, label in enumerate(labels) if label is None or label != label]
    if missing:
        raise ValueError(
            f"feature_groups has no label for feature {missing[0]}; give it one of its own if it "
            "is in no group"
        )
    known: dict[Any, int] = {}
    return tuple(known.setdefault(label, len(known)) for label in labels)


def _from_lists(lists: list[Any], d: int, names: Sequence[str] | None) -> tuple[int, ...]:
    owner: dict[int, int] = {}
    for at, members in enumerate(lists):
        for member in members:
            feature = _feature_index(member, names, d)
            if owner.setdefault(feature, at) != at:
                raise ValueError(
                    f"feature_groups: feature {shown(str(member))!r} is in two groups; "
                    "put it in one of them, or join the two"
                )
    free = iter(range(len(lists), len(lists) + d))
    return _numbered([owner[i] if i in owner else next(free) for i in range(d)], d)


def _feature_index(member: Any, names: Sequence[str] | None, d: int) -> int:
    """The index of a feature, given its name or number."""
    if isinstance(member, numbers.Integral) and not isinstance(member, bool | np.bool_):
        if not -d <= int(member) < d:
            raise ValueError(f"feature_groups: feature {member} is out of range for n_features={d}")
        return int(member) % d
    if not isinstance(member, str):
        raise ValueError(
            "feature_groups must have names or numbers of features in its lists, got "
            f"{member!r} of type {type(member).__name__}"
        )
    if names is None:
        raise ValueError(
            f"feature_groups names the feature {member!r}, but X has no column names; give a "
            "data frame, or the numbers of features"
        )
    if list(names).count(member) != 1:
        what = f"has no column {member!r}" if member not in names else f"has {member!r} twice"
        raise ValueError(f"feature_groups: X {what}; its columns are {listed(names)}")
    return list(names).index(member)


def ungrouped(labels: Sequence[int], features: NDArray[np.intp]) -> tuple[int, ...]:
    """The groups with these features taken out, each a group of one."""
    single = {int(feature): -1 - i for i, feature in enumerate(features)}
    return _numbered([single.get(i, label) for i, label in enumerate(labels)], len(labels))
