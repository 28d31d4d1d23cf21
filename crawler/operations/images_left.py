"""What an operation takes out of a corpus leaves its data sets of images in the same call."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from crawler.number import number_of

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.dataset.lifetimes import Lifetimes
    from crawler.images.withdraw import Left
    from crawler.operations.answer import Answer, Fields
    from crawler.storage.files.place import Place

IMAGES: Fields = {"images": ("object", "images that left a data set of images, by its folder")}


def leave_images(place: Place, config: Config, *, now: float, lifetimes: Lifetimes | None = None) -> list[Left]:
    """Bring every data set of images of this corpus up to it. lifetimes: those of the settings where None is given."""
    from crawler.dataset.lifetimes import Lifetimes
    from crawler.images.withdraw import withdraw_from_images

    return withdraw_from_images(place, lifetimes or Lifetimes.of(config.storage.document_ttl_days), now=now)


def with_images(answer: Answer, left: list[Left]) -> Answer:
    """The answer, with what became of data sets of images."""
    from crawler.observe.withdrawn import in_batches

    lines = [f"{each.folder}: {number_of(each.samples, 'image')} left" for each in left if each.samples]
    lines += [line for each in left for line in in_batches(each.batches, "images")]
    gone = {each.folder: each.samples for each in left if not each.problem}
    answer.facts = {**answer.facts, "images": gone}
    answer.lines = [*cast("list[str]", answer.lines), *lines]
    answer.problems = [*answer.problems, *(each.problem for each in left if each.problem)]
    return answer
