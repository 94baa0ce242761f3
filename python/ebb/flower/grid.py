# SPDX-License-Identifier: Apache-2.0
"""A grid that hands out replies one by one, as they come."""

from __future__ import annotations

import time
from typing import Any, Iterable, Iterator

from flwr.app import Message, MessageType
from flwr.serverapp import Grid

# How long Flower's grids wait between two looks, where they do not say.
_PULL_INTERVAL = 3.0


class OneByOneGrid(Grid):
    """Another grid, whose `send_and_receive` returns at once for messages that ask for training. What it
    returns yields each reply as `pull_messages` brings it and holds none. Replies are pulled one by one, so
    that those which are ready at the same time are not in memory at the same time.

    Everything else is the other grid's, as are the pause between two looks and what `timeout` means.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def send_and_receive(self, messages: Iterable[Message], *,
                         timeout: float | None = None) -> Any:
        messages = list(messages)
        if not messages or not all(is_training(message) for message in messages):
            return self._grid.send_and_receive(messages, timeout=timeout)
        # Sent now, whenever the first reply is asked for.
        awaited = list(dict.fromkeys(self._grid.push_messages(messages)))
        return self._replies(awaited, None if timeout is None else time.time() + timeout)

    def _replies(self, awaited: list[str], end: float | None) -> Iterator[Message]:
        while end is None or time.time() < end:
            for identity in list(awaited):
                pulled = list(self._grid.pull_messages([identity]))
                answered = {reply.metadata.reply_to_message_id for reply in pulled}
                awaited = [one for one in awaited if one not in answered]
                while pulled:
                    yield pulled.pop(0)  # without a name here, which would hold it
            if not awaited:
                return
            time.sleep(getattr(self._grid, "pull_interval", _PULL_INTERVAL))

    def set_run(self, run: Any) -> None:
        self._grid.set_run(run)

    @property
    def run(self) -> Any:
        return self._grid.run

    def create_message(self, *args: Any, **kwargs: Any) -> Message:
        return self._grid.create_message(*args, **kwargs)

    def get_node_ids(self) -> Any:
        return self._grid.get_node_ids()

    def get_nodes(self) -> Any:
        return self._grid.get_nodes()

    def push_messages(self, messages: Iterable[Message]) -> Any:
        return self._grid.push_messages(messages)

    def pull_messages(self, message_ids: Iterable[str]) -> Any:
        return self._grid.pull_messages(message_ids)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._grid, name)


def is_training(message: Message) -> bool:
    """Whether it asks for training, also of a kind that an app has named: "train.mine"."""
    kind: str = message.metadata.message_type
    return kind.split(".")[0] == str(MessageType.TRAIN)
