import Bytes
import IO

extension ShellWord {
    /// The name by which this program was called.
    static var program: String {
        let name = ProcessArguments.all.first ?? "attache"
        return name.contains("/") ? quoted(name) : "attache"
    }
}
