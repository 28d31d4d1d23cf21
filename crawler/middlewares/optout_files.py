"""The host's opt-out files may refuse a page that robots.txt allows.

The files are fetched like robots.txt: once for all workers, politely, through the guard. One that robots.txt disallows
is not fetched and says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any

from crawler.document import ControlFile, Drop, DropReason, Signal
from crawler.middlewares.control_files import ControlFiles, FileKind
from crawler.middlewares.outcomes import Held
from crawler.policy.headers import shown_url
from crawler.policy.opt_out_files import read_optional, read_required
from crawler.policy.robots.answer import Reading, RobotsRecord
from crawler.policy.robots.parse import RobotsFile
from crawler.policy.signals import rsl
from crawler.policy.signals.base import Context
from crawler.policy.signals.registry import files_of
from crawler.urls.resolve import resolve

MAX_LICENCES = 5
"""RSL licences of one robots.txt that are read; a host with more is held."""


class OptOutFiles:
    """Asks the files that the profile wants. `store` makes the keeper of one kind of file.

    `noted_files` (OPTOUT_NOTED_FILES) are asked for and recorded, and never hold a host.
    """

    def __init__(
        self, profile: str, store: Callable[[FileKind[Any]], ControlFiles[Any]], noted_files: Collection[str] = ()
    ) -> None:
        keepers = [
            (file, store(FileKind(name, read_optional(file.unreadable), file.parse)))
            for name, file in files_of(profile, noted_files).items()
        ]
        self._files = [(place, file, keeper) for file, keeper in keepers for place in file.places]
        self._licences = store(FileKind(rsl.NAME, read_required(rsl.unreadable), rsl.parse))
        self._reads_licences = profile != "minimal"

    async def signals(
        self,
        authority: str,
        path: str,
        robots: RobotsFile | None,
        context: Context,
        files: list[ControlFile] | None = None,
    ) -> list[Signal]:
        """Every statement of the host's files about this path; `files` takes those that were there.

        Raises: Held where one of them cannot be read.
        """
        found: list[Signal] = []
        files = [] if files is None else files
        for location, file, keeper in self._files:
            if robots is not None and not robots.decide(context.product_token, location).allowed:
                continue
            record, parsed = await keeper.get(authority + location)
            if record.reading is Reading.HOLD and not file.noted:
                raise _held(record, location, authority)
            if parsed is not None:
                files.append(_seen(authority + location, keeper.name, record))
                found += file.signals(parsed, path, context)
        if robots is not None and self._reads_licences:
            found += await self._licence_signals(authority, path, robots, context, files)
        return found

    async def _licence_signals(
        self, authority: str, path: str, robots: RobotsFile, context: Context, files: list[ControlFile]
    ) -> list[Signal]:
        found: list[Signal] = []
        records = robots.records_for(context.product_token, "license")
        for value in dict.fromkeys(record.value for record in records):
            url = resolve(f"{authority}/robots.txt", value) or value  # what names no URL, nobody can fetch
            record, parsed = await self._licences.get(url)
            if parsed is None or len(found) >= MAX_LICENCES:
                raise _held(record, f"RSL licence {shown_url(url)}", authority)
            files.append(_seen(url, rsl.NAME, record))
            found.append(rsl.from_file(parsed, url, path))
        return found


def _seen(url: str, protocol: str, record: RobotsRecord) -> ControlFile:
    when = datetime.fromtimestamp(record.body_fetched_at or record.fetched_at, UTC).isoformat(timespec="seconds")
    return ControlFile(shown_url(url), protocol, record.sha256 or "", when)


def _held(record: RobotsRecord, what: str, authority: str) -> Held:
    drop = Drop("robots", DropReason.HOLD_CONTROL_FILE, f"{what}: {record.detail}"[:512])
    return Held(drop, record.expires_at, authority)
