import Bytes
import IO

extension ShellWord {
    /// This program, as it was called.
    static var program: String {
        let name = ProcessArguments.all.first ?? "attache"
        return name.contains("/") ? quoted(name) : "attache"
    }
}
