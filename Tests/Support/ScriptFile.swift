import Foundation
import Glibc

/// Scripts that tests write and run.
public enum ScriptFile {
    /// Writes a script by another process. A file that this process has had open for writing may still be open in a program
    /// that another test starts, and then it cannot be run (ETXTBSY).
    public static func write(_ text: String, to path: String, mode: mode_t = 0o700) throws {
        let writer = ChildProcess()
        writer.executableURL = URL(filePath: "/bin/sh")
        writer.arguments = [
            "-c", "printf %s \"$1\" >\"$0\" && chmod \"$2\" \"$0\"", path, text, String(mode, radix: 8),
        ]
        try writer.start()
        writer.waitUntilExit()
        guard writer.terminationStatus == 0 else { throw ChildProcess.Failure(description: "cannot write \(path)") }
    }
}
