import Admin
import Authentication
import Model
import Rules

/// `attache replay`: asks a rule file about the challenges of a log.
struct ReplayCommand: Command {
    static let syntax = CommandSyntax(
        name: "replay", summary: "ask a rule file about the challenges that a log has recorded",
        operands: [CommandOperand(name: "LOG"), CommandOperand(name: "FILE", isOptional: true)],
        options: [CommandOption(name: "all", summary: ["show also what does not change"])],
        details: """
            LOG is the JSON access log, or '-' for standard input. Each line with a challenge is put to the
            rules of FILE (default: ./proxy.conf, else /etc/attache/proxy.conf): the server, its schemes and
            realm, and the client. Shown are the servers that would be answered otherwise than they were:
            by another credential, by none, or for the first time. Nothing is sent.

                attache replay access.log new.conf

            Answers from the store and refusals of passwords are not known here: a rule that says 'default'
            counts as the stored credential that the log names. While it reads, a line on the terminal says how
            far it is; Ctrl-C stops it, and the report is of what was read until then.
            """)

    private let log: String
    private let path: String
    private let showsAll: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        log = arguments.operand(0) ?? ""
        path = try RuleFilePath.choose(arguments.operand(1))
        showsAll = arguments.has("all")
    }

    /// Challenges of one kind that were answered alike, and would be.
    private struct Group: Hashable {
        let origin: Origin
        let schemes: [String]
        let realm: String?
        let before: ReplayedAnswer
        let after: ReplayedAnswer

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
        /// Challenges of kinds that were too many to be told apart.
        private(set) var left = 0

        /// Kinds that are told apart; a log may be of servers that name another realm each time.
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
        let stop = try LongWork.run("reading the log") { work throws(CommandError) -> CommandError? in
            try lines.read(while: { Self.goesOn(work, in: $0) }) { line in
                guard let recorded = RecordedChallenge(line) else { return }
                tally.add(
                    Group(
                        origin: recorded.origin, schemes: recorded.schemes, realm: recorded.realm,
                        before: recorded.answer, after: recorded.answer(by: rules)))
            }
            return work.isStopped ? work.stopped("stopped: the rest of the log was not read") : nil
        }
        show(tally.groups)
        Console.print("\(tally.challenges) challenges, of which \(tally.changed) would be answered otherwise")
        if tally.left > 0 { Console.print("\(tally.left) more were of too many kinds to be shown") }
        if let stop { throw stop }
        return ExitStatus.success
    }

    private static func goesOn(_ work: LongWork, in lines: borrowing LogLines) -> Bool {
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
