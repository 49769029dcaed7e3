/// Why a command did not do what was asked, by whose fault it is. A sentence reads well after `attache: `; a hint is
/// a line of its own.
enum CommandError: Error {
    /// The command line is wrong.
    case usage(String, hint: String)
    /// The rule file, or what it says, does not allow it.
    case configuration(String)
    /// The rule file has errors; the report shows them all and needs no sentence.
    case rules(report: String)
    /// What was asked for was tried, and failed.
    case failed(String)

    var status: Int32 {
        switch self {
        case .usage, .configuration, .rules: ExitStatus.usage
        case .failed: ExitStatus.failed
        }
    }

    /// Says it on standard error.
    func report() {
        switch self {
        case .usage(let sentence, let hint):
            Console.error(sentence)
            Console.write(hint + "\n")
        case .configuration(let sentence), .failed(let sentence): Console.error(sentence)
        case .rules(let report): Console.write(report)
        }
    }
}
