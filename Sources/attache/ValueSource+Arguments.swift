import Credentials

extension Credentials.ValueSource {
    /// `--OPTION file NAME` or `--OPTION env NAME`.
    ///
    /// - Parameter operand: the number of `NAME` among the operands.
    init(_ arguments: Arguments, option: String, operand: Int) throws(CommandError) {
        guard let kind = arguments.value(of: option), let name = arguments.operand(operand) else {
            throw arguments.error("a key is missing: --\(option) file NAME or --\(option) env NAME")
        }
        switch kind {
        case "file": self = .file(path: name)
        case "env": self = .environment(name)
        default: throw arguments.error("'--\(option)' is 'file' or 'env'")
        }
    }
}
