"""A model is learned from the corpus' labels in a thread of this process, and what it says of the kept documents."""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from crawler.classify.card import Said, card_of, save
from crawler.classify.examples import Examples, read_labels
from crawler.classify.explain import pulls
from crawler.classify.languages import identified
from crawler.classify.measures import Cut, cuts
from crawler.classify.train import Trained, train, usable
from crawler.documents.archived_text import ArchivedTexts
from crawler.explore.catalogue import Catalogue, NotReadyError
from crawler.problems import InputError
from crawler.storage.corpus.labels import LABELS
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import replace_file
from crawler.storage.files.place import MODELS
from crawler.times import rfc3339

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawler.config import Config

log = logging.getLogger(__name__)
NAME = "judged"
"""What the classifier is called in CLASSIFIERS and in `classifier_scores`."""
MOST_SCORED = 20_000
"""Kept documents that a new model scores, chosen by hash: some ten seconds of them."""
CURVE = tuple(round(0.05 * step, 2) for step in range(1, 20))
_LICENCE = "not stated; numbers only, no phrase of a text"


@dataclass(frozen=True)
class Learned:
    """A model and what it does here. paths: files of the version that it has scored.

    keys, scores: of the kept documents that have a score; kept: all kept ones; unscored: those of the looked at whose
    language the model does not know. left_out: what was not learned from, a sentence for each reason.
    """

    made: Trained
    weaknesses: list[str]
    pulls: tuple[list[str], list[str]]
    left_out: list[str]
    paths: list[str]
    keys: NDArray[np.int64]
    scores: NDArray[np.float64]
    kept: int
    unscored: int

    def cuts(self, thresholds: tuple[float, ...] = CURVE) -> list[Cut]:
        """What thresholds do, of sites that the model asked had not seen."""
        goal, weight = (
            np.array([getattr(one, name) for one in self.made.examples], np.float64) for name in ("good", "weight")
        )
        return cuts(goal, self.made.held_out, weight, thresholds)

    def below(self, threshold: float, most: int) -> tuple[int, list[tuple[int, float]]]:
        """How many of the scored documents would go, and those nearest to the threshold: key and score."""
        gone = np.flatnonzero(self.scores < threshold)
        nearest = gone[np.argsort(-self.scores[gone], kind="stable")][:most]
        return len(gone), [(int(self.keys[at]), float(self.scores[at])) for at in nearest]

    def saved(self, folder: Path, threshold: float, action: str) -> Path:
        """Write the model with this threshold and action; the same model has the same name. Raises: OSError."""
        date = max((one.at for one in self.made.examples), default="")[:10] or rfc3339(time.time())[:10]
        card, _ = card_of(self.made, Said(NAME, (LABELS,), _LICENCE, date, threshold, action))
        with tempfile.TemporaryDirectory(prefix="learn-") as scratch:
            save(Path(scratch) / f"{NAME}.npz", card, self.made)
            content = (Path(scratch) / f"{NAME}.npz").read_bytes()
        path = folder.resolve() / MODELS / f"{NAME}-{sha256(content).hexdigest()[:12]}.npz"
        path.parent.mkdir(exist_ok=True)
        replace_file(path, content)
        return path


class Learning:
    """The learning of one corpus. working: it goes on, `said` how far; done, problem: how the last one ended."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._lock = threading.Lock()
        self.working, self.said, self.problem = False, "", ""
        self.done: Learned | None = None

    def begin(self, config: Config) -> None:
        """Start; nothing where one is at work already."""
        with self._lock:
            if self.working:
                return
            self.working, self.said, self.problem, self.done = True, "reading judged texts …", "", None
        threading.Thread(target=self._work, args=[config], name="learning", daemon=True).start()

    def _work(self, config: Config) -> None:
        try:
            self.done = self._learn(config)
        except InputError as error:
            self.problem = "; ".join(error.problems)
        except (StorageError, NotReadyError, OSError) as error:
            self.problem = str(error)
        except Exception:
            log.exception("nothing could be learned")
            self.problem = "an error of this program; its log has more"
        finally:
            self.working = False

    def _learn(self, config: Config) -> Learned:
        read, paths = Examples(), self._catalogue.paths
        if LABELS in self._catalogue.place.listing(""):  # else nobody has judged a page yet
            read_labels([self._catalogue.place.url], read, ArchivedTexts(lambda: config))
        read.found = identified(read.found)
        found = usable(read, "judge more pages")
        made = train(found, tell=self._tell)
        _, weak = card_of(made, Said(NAME, (LABELS,), _LICENCE, ""))
        texts = [one.text for one in found]
        keys, scores, kept, unscored = self._scored(made)
        pulled = pulls(made.weights, texts)
        return Learned(made, weak, pulled, read.sentences(), paths, keys, scores, kept, unscored)

    def _tell(self, sentence: str) -> None:
        self.said = sentence

    def _scored(self, made: Trained) -> tuple[NDArray[np.int64], NDArray[np.float64], int, int]:
        known = self._catalogue.rows(
            "SELECT id, language FROM records WHERE state = 'kept' ORDER BY md5(canonical_url), id LIMIT ?",
            [MOST_SCORED],
        )
        (kept,) = self._catalogue.rows("SELECT count(*) FROM records WHERE state = 'kept'")[0]
        wanted = [int(key) for key, language in known if language in made.languages]
        keys, scores = [], []
        for key, text in self._catalogue.texts(wanted):
            keys.append(key)
            scores.append(made.weights.score(text))
            self._tell(f"scoring kept documents: {len(keys):,} of {len(wanted):,} …")
        return np.array(keys, np.int64), np.array(scores, np.float64), int(kept), len(known) - len(wanted)


_JOBS: WeakKeyDictionary[Catalogue, Learning] = WeakKeyDictionary()


def learning_of(catalogue: Catalogue) -> Learning:
    """The one of this corpus."""
    return _JOBS.setdefault(catalogue, Learning(catalogue))
