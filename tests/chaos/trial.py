# SPDX-License-Identifier: Apache-2.0
"""All cases of one call of scripts/chaos: what was tried, where calls failed, what did not hold."""
import dataclasses
import itertools
import threading

import drawing
import judging
import places
import running


class Trial:
    """Thread-safe."""

    def __init__(self, programs, folder):
        self.programs = programs
        self.folders = (folder / str(number) for number in itertools.count())
        self.lock = threading.Lock()
        self.sites = {}  # places that make calls: whether one from there was made to fail
        self.cases = self.faults = 0
        self.not_given = {}  # why a fault could not be given: how often
        self.findings = []

    def next_folder(self):
        with self.lock:
            return next(self.folders)

    def note_sites(self, report):
        """Reads what the shim wrote: what each line tells, the number of the call, and its place."""
        lines = report.read_text().splitlines() if report.exists() else []
        told = [line.split(" ", 2) for line in lines]
        with self.lock:
            for what, _, site in told:
                self.sites[site] = self.sites.get(site, False) or what == "fault"
        return told

    def note_not_given(self, why):
        with self.lock:
            self.not_given[why] = self.not_given.get(why, 0) + 1

    def run(self, case, tells=False):
        try:
            found = self.judge(case, tells)
        except Exception as failure:  # a case that cannot be judged is a finding too
            found = [f"{type(failure).__name__}: {failure}"]
        with self.lock:
            self.cases += 1
            self.faults += case.number_of_faults()
            if found:
                self.findings.append(case)
                print(f"FAILED {case}\n" + "".join(f"    {line}\n" for line in found), flush=True)
        return not found

    def summary(self, seeds):
        covered = sum(self.sites.values())
        given = self.faults - sum(self.not_given.values())
        text = (f"{self.cases} cases{seeds}, {given} faults, {covered} of {len(self.sites)} places that make "
                f"these calls had one fail; {len(self.findings)} findings")
        return text + "".join(f"\n{count} more were not given: {why}" for why, count in sorted(self.not_given.items()))


class RunTrial(Trial):
    """Jobs under `ebb run`, compared with the same jobs without."""

    def __init__(self, programs, folder):
        super().__init__(programs, folder)
        self.plain = {}
        self.denied = places.why_not()
        self.not_installed = {name: places.why_not_preloaded(file) for name, file in drawing.PRELOADED.items()}

    def without_ebb(self, case):
        key = case.program, case.job, case.job_faults, case.words(), case.is_allocator_preset and case.allocator
        if key not in self.plain:
            self.plain[key] = running.run_plain(self.programs, case, self.next_folder())
        return self.plain[key]

    def permitted(self, case):
        """The case as far as this machine permits it."""
        case = self.with_installed(case)
        what = getattr(case.fault, "what", None)
        why = self.denied.get(drawing.KERNELS.get(what))
        if why is None:
            return case
        with self.lock:
            self.faults += 1  # that it should have had
        self.note_not_given(why)
        return case.with_fault(None)

    def with_installed(self, case):
        """The case with the allocators that there are here."""
        if not case.allocator or not (why := self.not_installed[case.allocator]):
            return case
        with self.lock:
            self.faults += 1
        self.note_not_given(why)
        return dataclasses.replace(case, allocator="", is_allocator_preset=False,
                                   options=case.options if case.is_allocator_preset else case.options[:-2])

    def run(self, case, tells=False):
        return super().run(self.permitted(case), tells)

    def judge(self, case, tells):
        """What did not hold in this case."""
        plain = self.without_ebb(case)
        folder = running.Folder(self.next_folder())
        with running.place_for(case.fault, folder) as place:
            try:
                managed, said, given = running.run_under_ebb(self.programs, case, folder, place)
            except running.Hanging as hanging:
                return [f"hangs: {hanging}"]
            if isinstance(place, places.SmallDisk):
                place.empty()
            found = judging.stopped(plain, managed) if case.is_stopped else judging.differences(plain, managed)
            found += judging.left_behind(self.programs.ebb, folder)
            found += judging.record_adds_up(self.programs.ebb, folder, case.may_lose_record())
        if tells:
            print(said, end="")
        if found:
            found += [f"stderr: {line}" for line in said.splitlines()[:20]]
        self.note_sites(folder.report)
        if not given:
            self.note_not_given("the job had ended before, or made no such call")
        folder.remove()
        return found
