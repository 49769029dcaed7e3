import Admin
import Authentication
import Rules

/// The command `attache replay`: tests a rule file with the challenges of a log.
struct ReplayCommand: Command {
    static let syntax = CommandSyntax(
        name: "replay", summary: "test a rule file with the challenges in a log",
        operands: [CommandOperand(name: "LOG"), CommandOperand(name: "FILE", isOptional: true)],
        options: [
            .config, CommandOption(name: "all", summary: ["also show what does not change"]),
        ],
        details: """
            Shows what a new rule file would change. LOG is the JSON access log, or '-' for standard input. FILE
            is the same as --config FILE. Nothing is sent.

                attache replay access.log new.conf

            It takes each line of the log with a challenge: server, methods, realm and client. It shows the
            servers that would get another answer: another credential, none, or one for the first time. It does
            not know the store, nor refused passwords. For a rule that says 'default', it assumes the stored
            credential in the log. It shows its progress on the terminal. After Ctrl-C it reports what was read.
            """)

    private let log: String
    private let path: String
    private let showsAll: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        log = arguments.operand(0) ?? ""
        path = try RuleFilePath.choose(try arguments.ruleFile(or: arguments.operand(1)))
        showsAll = arguments.has("all")
    }

    /// Challenges of one kind with the same answer in the log, and the same answer by the rules.
    private struct Group: Hashable {
        let origin: Origin
        let schemes: [String]
        let realm: String?
        let before: Answer
        let after: Answer

        var isChange: Bool { !before.isSame(as: after) }

        var title: String {
            let realm = realm.map { " \"\(Console.printable($0))\"" } ?? ""
            let names = schemes.isEmpty ? "no challenge" : schemes.joined(separator: " ")
            return "\(Console.printable(names))\(realm) of \(Console.printable(origin.words))"
        }
    }

    /// The challenges that were read.
    private struct Tally {
        private(set) var groups: [Group: Int] = [:]
        private(set) var challenges = 0
        /// The number of challenges of further kinds, beyond the limit.
        private(set) var left = 0

        /// The limit of kinds that are counted separately; a server in the log may change its realm each time.
        private static let groupLimit = 100_000

        var changed: Int { groups.reduce(0) { $0 + ($1.key.isChange ? $1.value : 0) } }

        mutating func add(_ group: Group) {
            challenges += 1
            if groups[group] == nil, groups.count >= Self.groupLimit {
                left += 1
            } else {
                groups[group, default: 0] += 1
            }
        }
    }

    func run() throws(CommandError) -> Int32 {
        let rules = RuleSet(try RuleFile.read(path).valid())
        var tally = Tally()
        var lines = try LogLines(log)
        let stop = try ProgressReport.run("reading the log") { work throws(CommandError) -> CommandError? in
            try lines.read(while: { Self.goesOn(work, in: $0) }) { line in
                guard let recorded = Challenge(line) else { return }
                tally.add(
                    Group(
                        origin: recorded.origin, schemes: recorded.schemes, realm: recorded.realm,
                        before: recorded.answer, after: recorded.answer(by: rules)))
            }
            return work.isStopped ? work.stopped("stopped: the rest of the log was not read") : nil
        }
        show(tally.groups)
        Console.print("\(tally.challenges) challenges; \(tally.changed) would get another answer")
        if tally.left > 0 {
            Console.print("\(tally.left) more challenges are not shown, because there are too many kinds")
        }
        if let stop { throw stop }
        return ExitStatus.success
    }

    private static func goesOn(_ work: ProgressReport, in lines: borrowing LogLines) -> Bool {
        let (position, size) = (lines.position, lines.size)
        work.show {
            if let size, size > 0 { return "\(min(position, size) * 100 / size) %" }
            return "\(position >> 10) KiB"
        }
        return !work.isStopped
    }

    private func show(_ groups: [Group: Int]) {
        let shown = groups.filter { showsAll || $0.key.isChange }.sorted { left, right in
            (right.value, left.key.title, left.key.after.text) < (left.value, right.key.title, right.key.after.text)
        }
        for (group, count) in shown {
            Console.print("\(group.title), \(count == 1 ? "once" : "\(count) times")")
            Console.print("  \(group.isChange ? "was" : "is ")  \(Console.printable(group.before.text))")
            if group.isChange { Console.print("  now  \(Console.printable(group.after.text))") }
        }
        if !shown.isEmpty { Console.print("") }
    }
}
