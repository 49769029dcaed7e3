import Rules

/// The pages for man(1), from the tables that the program itself reads by.
enum ManualPage: String, CaseIterable {
    case program = "attache"
    case ruleFile = "proxy.conf"

    /// In roff.
    func text(_ commands: [CommandSyntax], version: String) -> String {
        switch self {
        case .program: Self.program(commands, version)
        case .ruleFile: Self.ruleFile(version)
        }
    }

    private static func program(_ commands: [CommandSyntax], _ version: String) -> String {
        var page = ManualRoff(
            "attache", section: 1, version: version,
            summary: "a forward proxy that answers authentication challenges for tools that cannot")
        page.section("synopsis")
        page.literal(["attache COMMAND [OPTION]... [ARGUMENT]..."])
        page.section("description")
        page.add(description)
        page.section("commands")
        for command in commands {
            page.subsection("attache \(command.name): \(command.summary)")
            page.literal(command.usage.split(separator: "\n").map { $0.dropFirst("usage: ".count) })
            for option in command.options { page.item(option.label, option.summary.joined(separator: " ")) }
            page.add(command.details)
        }
        page.section("files")
        page.item("./proxy.conf, /etc/attache/proxy.conf", "The rule file; see proxy.conf(5).")
        page.item(
            "$XDG_STATE_HOME/attache, ~/.local/state/attache",
            "The authority, the store and the socket of a running proxy, unless the rule file says 'state'.")
        page.section("exit status")
        page.add(exitStatus)
        page.section("see also")
        page.add("proxy.conf(5); 'attache help' lists the topics of the same text.")
        return page.text
    }

    private static func ruleFile(_ version: String) -> String {
        var page = ManualRoff(
            "proxy.conf", section: 5, version: version, summary: "the rule file of attache(1)")
        for topic in ManualTopic.all { page.add(topic) }
        page.section("see also")
        page.add("attache(1)")
        return page.text
    }

    static let exitStatus = """
        The exit status is 0 for success, 1 when what was asked for failed, 2 when the command line or the rule file is
        wrong.
        """

    private static let description = """
        A tool sets http_proxy and speaks plain HTTP without a password. When a server answers 401, the proxy looks into its
        rule file, answers with the credential that stands there for this server, and gives the tool the 200. The tool, its
        environment and its logs never see the password.

            attache init http://ci.example.com/job
            attache run
            eval "$(attache env)"

        Results go to standard output, all else to standard error.
        """
}

/// The help of the program, and of what is asked for by a word.
struct ProgramHelp {
    let commands: [CommandSyntax]

    private static let width = 79

    var overview: String {
        let width = commands.map(\.name.count).max() ?? 0
        let rows = commands.map { command in
            "  \(command.name)\(String(repeating: " ", count: width - command.name.count))  \(command.summary)"
        }
        return """
            attache: a forward proxy that answers authentication challenges for tools that cannot

            usage: attache COMMAND [OPTION]... [ARGUMENT]...

            \(rows.joined(separator: "\n"))

              -h, --help   show this text; 'attache COMMAND --help' tells more about one
              --version    the same as 'version'

            'attache help TOPIC' is the manual of the rule file:\(Self.topics)
            A word of the rule file, such as 'preempt', is a topic, too.

            Results go to standard output, all else to standard error. The exit status is 0 for success,
            1 when what was asked for failed, 2 when the command line or the rule file is wrong.
            """
    }

    /// The names, in lines behind the one that they begin on.
    private static var topics: String {
        var lines = [""]
        for name in ManualTopic.all.map(\.name) {
            let word = name == ManualTopic.all.last?.name ? name : "\(name),"
            let line = lines[lines.count - 1]
            if line.count + word.count > 76 { lines.append(word) } else { lines[lines.count - 1] += " \(word)" }
        }
        return lines.map { "\n  " + ($0.first == " " ? String($0.dropFirst()) : $0) }.joined()
    }

    /// The text about a topic, a command or a directive; nil where there is none.
    func text(about word: String) -> String? {
        let command = commands.first { $0.name == word }
        if let topic = ManualTopic.named(word) {
            let text = ManualText.of(topic, width: Self.width)
            return command == nil ? text : "\(text)\n\nThe command of that name: attache \(word) --help"
        }
        if let command { return command.help }
        let topics = ManualTopic.explaining(word)
        guard !topics.isEmpty else { return nil }
        let entries = topics.flatMap { $0.entries.filter { $0.name == word } }
        let names = topics.map { "attache help \($0.name)" }.joined(separator: ", ")
        return "\(ManualText.of(entries, width: Self.width))\n\nMore: \(names)"
    }

    /// The words that there is a text about.
    var words: [String] {
        let directives = ManualTopic.all.flatMap(\.entries).map(\.name)
        return Set(ManualTopic.all.map(\.name) + commands.map(\.name) + directives).sorted()
    }
}
