# SPDX-License-Identifier: Apache-2.0
"""Snapshots that are sent to `ebb serve`: large, hostile, too many. The program comes in $EBB_PROGRAM."""
import gzip
import http.client
import json
import pickle
import tempfile
import unittest
import urllib.parse
from pathlib import Path

from running import EBB, PATIENCE, Program, fetched, until

MIB = 1 << 20
BUDGET = 40 * MIB  # what reading may cost beyond the file


def text(word):
    return b"X" + len(word).to_bytes(4, "little") + word.encode()


def event(action):
    """One event of a history as a pickler without a memo writes it; 64 MiB at one address."""
    address = b"\x8a\x06" + (0x7F0000000000).to_bytes(6, "little")
    return (b"}(" + text("action") + text(action) + text("addr") + address
            + text("size") + b"J" + (64 * MIB).to_bytes(4, "little") + text("stream") + b"K\x00" + text("frames") + b"]u")


def large_snapshot(path, size):
    """Writes a snapshot of at least so many bytes, without holding it in memory."""
    pair = event("alloc") + event("free_requested") + event("free_completed")
    many = pair * 1000
    with open(path, "wb") as file:
        file.write(b"\x80\x02}(" + text("segments") + b"]" + text("device_traces") + b"](](" + event("segment_alloc"))
        for _ in range(size // len(many) + 1):
            file.write(many)
        file.write(event("segment_free") + b"eeu.")


def memory(pid):
    """The most that a process has held, and what it holds, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    values = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmHWM", "VmRSS"))}
    return int(values["VmHWM"]) * 1024, int(values["VmRSS"]) * 1024


class Snapshots(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program, self.address = self.served()

    def served(self, *options, **variables):
        program = Program(EBB, "serve", "--db", self.folder / "runs.db", "--listen", "127.0.0.1:0", *options,
                          TMPDIR=str(self.folder), **variables)
        self.addCleanup(program.__exit__)
        return program, program.found(r"serves \S+ at (http://\S+)")

    def connection(self):
        return http.client.HTTPConnection(urllib.parse.urlparse(self.address).netloc, timeout=PATIENCE)

    def sent(self, body, name="job.pickle", **headers):
        """Status and text of the answer to an upload."""
        connection = self.connection()
        connection.request("POST", f"/snapshots?name={urllib.parse.quote(name)}", body, headers)
        answer = connection.getresponse()
        found = answer.status, answer.read().decode()
        connection.close()
        return found

    def document(self, page):
        return json.loads(fetched(f"{self.address}{page}/document")[2])

    def test_200_mb_are_read_within_the_budget(self):
        path = self.folder / "large.pickle"
        large_snapshot(path, 200_000_000)
        with open(path, "r+b") as file:  # the last byte is missing, and nothing but reading comes of it
            file.truncate(path.stat().st_size - 1)
        before = memory(self.program.process.pid)[1]
        with open(path, "rb") as body:
            status, answer = self.sent(body)
        self.assertEqual((status, len(answer.splitlines())), (422, 1), answer)
        self.assertLess(memory(self.program.process.pid)[0], before + path.stat().st_size + BUDGET)

    def test_a_large_one_leaves_nothing(self):
        path = self.folder / "large.pickle"
        large_snapshot(path, 50_000_000)
        before = memory(self.program.process.pid)[1]
        with open(path, "rb") as body:
            status, answer = self.sent(body)
        self.assertEqual(status, 201, answer)
        self.assertEqual(list(self.folder.glob("ebb-*")), [], "the upload had no name")
        page = json.loads(answer)["page"]
        until(lambda: "verdict" in self.document(page))
        self.assertEqual(fetched(f"{self.address}{page}")[0], 200)
        connection = self.connection()
        connection.request("POST", f"/{page}/stop")
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        until(lambda: "task" not in self.document(page))
        until(lambda: memory(self.program.process.pid)[1] < before + 64 * MIB)

    def test_a_pickle_that_would_run_something_is_refused_in_one_line(self):
        class Evil:
            def __reduce__(self):
                return print, ("run",)

        for body in (pickle.dumps(Evil()), gzip.compress(pickle.dumps(Evil())), b"", b"\x80\x04K\x01.", b"\0" * 100_000):
            status, answer = self.sent(body, "<b>evil</b>\n.pickle")
            self.assertEqual(status, 422, answer)
            self.assertTrue(answer.startswith("<b>evil</b> .pickle: "), answer)
            self.assertEqual(len(answer.splitlines()), 1, answer)

    def test_a_request_names_no_file(self):
        secret = self.folder / "secret.pickle"
        large_snapshot(secret, 1)
        for path in ("snapshots" + str(secret), "snapshots/" + urllib.parse.quote(str(secret), safe=""),
                     "snapshots/../secret.pickle"):
            self.assertIn(fetched(self.address + path)[0], (404, 405), path)
        status, answer = self.sent(b"", str(secret))
        self.assertEqual(status, 422, answer)

    def test_others_may_not_send(self):
        for headers, expected in (({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
                                  ({"Host": "evil.example"}, 403)):
            self.assertEqual(self.sent(b"x", **headers)[0], expected, headers)

    def test_a_third_is_refused_while_two_come_in(self):
        slow = []
        for _ in range(2):
            connection = self.connection()
            connection.putrequest("POST", "/snapshots")
            connection.putheader("Content-Length", "1000000")
            connection.putheader("Expect", "100-continue")
            connection.endheaders()
            self.assertIn(b"100 Continue", connection.sock.recv(100))
            slow.append(connection)
        status, answer = self.sent(b"x")
        self.assertEqual((status, len(answer.splitlines())), (503, 1), answer)
        slow[0].close()
        until(lambda: self.sent(b"x")[0] == 422)
        slow[1].close()

    def test_what_is_said_to_be_too_large_is_refused_at_once(self):
        connection = self.connection()
        connection.putrequest("POST", "/snapshots")
        connection.putheader("Content-Length", str((1 << 30) + 1))
        connection.endheaders()
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.read()), (413, b"expected at most 1.0 GiB\n"))
        connection.close()

    def test_files_are_named_on_the_command_line(self):
        path = self.folder / "named.pickle"
        large_snapshot(path, 1)
        _, address = self.served(path)
        self.assertIn("named.pickle", fetched(address)[2])
        status, _, document = fetched(address + "snapshots/1/document")
        self.assertEqual(status, 200, document)
        program = Program(EBB, "serve", "--db", self.folder / "runs.db", "--port", "0", self.folder / "nowhere.pickle")
        self.addCleanup(program.__exit__)
        self.assertEqual(program.end(), 2)
        self.assertIn("nowhere.pickle: No such file", program.said())


if __name__ == "__main__":
    unittest.main()
