import Foundation

/// The filters of system calls that the unit of `attache deploy systemd` asks for, without systemd: its groups of calls,
/// its families of addresses, and no memory that is both written and executed.
enum Confinement {
    static let isPossible: Bool = {
        let run = try? Finished.run("python3", words(for: "true", []))
        return run?.succeeded ?? false
    }()

    /// The arguments with which Python becomes the program under the filters.
    static func words(for program: String, _ arguments: [String]) throws -> [String] {
        try ["-c", script, unit.get(), program] + arguments
    }

    private static let unit = Result {
        let path = Scratch.folder("unit") + "/attache.service"
        let run = try Finished.run(AttacheBinary.path, ["deploy", "systemd", "--program", "/usr/bin/attache"])
        try Scratch.write(run.output, to: path)
        return path
    }

    private static let script = #"""
        import ctypes, os, socket, subprocess, sys
        unit, program = sys.argv[1], sys.argv[2:]
        lines = [line.strip().partition("=") for line in open(unit)]
        def of(name):
            return [value for key, _, value in lines if key == name]
        def calls(word):
            if not word.startswith("@"):
                return {word}
            listed = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", word], capture_output=True, text=True, check=True)
            words = [line.strip() for line in listed.stdout.splitlines()[1:]]
            return set().union(*(calls(word) for word in words if word and word[0] != "#"))
        allowed = calls("@default") | {"execve"}
        for value in of("SystemCallFilter"):
            named = set().union(*(calls(word) for word in value.lstrip("~").split()))
            allowed = allowed - named if value[0] == "~" else allowed | named
        families = {getattr(socket, name) for value in of("RestrictAddressFamilies") for name in value.split()}
        assert families and of("MemoryDenyWriteExecute") == ["yes"] and of("SystemCallErrorNumber") == ["EPERM"]
        class Argument(ctypes.Structure):
            _fields_ = [("number", ctypes.c_uint), ("comparison", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]
        EQUAL, MASKED, ALLOW, EPERM, EAFNOSUPPORT = 4, 7, 0x7FFF0000, 0x50001, 0x50061
        library = ctypes.CDLL("libseccomp.so.2")
        library.seccomp_init.restype = ctypes.c_void_p
        def load(default, action, rules):
            context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(default)))
            for name, *tests in rules:
                number = library.seccomp_syscall_resolve_name(name.encode())
                if number >= 0:
                    array = (Argument * len(tests))(*(Argument(*test) for test in tests))
                    assert library.seccomp_rule_add_array(context, ctypes.c_uint32(action), number, len(tests), array) == 0, name
            assert library.seccomp_load(context) == 0
        # As systemd 252 does for MemoryDenyWriteExecute.
        load(ALLOW, EPERM, [("mmap", (2, MASKED, 6, 6)), ("mprotect", (2, MASKED, 4, 4)),
            ("pkey_mprotect", (2, MASKED, 4, 4)), ("shmat", (2, MASKED, 0o100000, 0o100000))])
        load(ALLOW, EAFNOSUPPORT, [("socket", (0, EQUAL, n, 0)) for n in range(1, 64) if n not in families])
        load(EPERM, ALLOW, [(name,) for name in allowed])
        os.execvp(program[0], program)
        """#
}
