import Rules

/// The pages for man(1), made from the tables that the program itself uses.
enum ManualPage: String, CaseIterable {
    case program = "attache"
    case ruleFile = "proxy.conf"

    /// The page in roff.
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
        page.item(
            "./proxy.conf, ~/.config/attache/proxy.conf, /etc/attache/proxy.conf",
            "The rule file; the first that exists is used, unless --config or ATTACHE_CONFIG names one. See proxy.conf(5)."
        )
        page.item(
            "$XDG_STATE_HOME/attache, ~/.local/state/attache",
            "The CA, the store and the socket of a running proxy, unless the rule file has 'state'.")
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
        The exit status is 0 for success, 1 when something failed, 2 when the command line or the rule file is
        wrong.
        """

    private static let description = """
        A tool sets http_proxy and sends its requests without a password. When a server answers 401, the proxy repeats the
        request with the credential that the rule file names for this server. The tool gets the 200. The tool, its
        environment and its logs never see the password.

            attache init http://ci.example.com/job
            attache run
            eval "$(attache env)"

        Results go to standard output, everything else to standard error.
        """
}

/// The help of the program, and of a topic or word.
struct ProgramHelp {
    let commands: [CommandSyntax]

    private static let width = 79

    var overview: String {
        let rows = CommandSyntax.table(commands.map { ($0.name, $0.summary) })
        let topics = CommandSyntax.table(ManualTopic.all.filter { !$0.isRecipe }.map { ($0.name, $0.title) })
        return """
            attache: a forward proxy that answers authentication challenges for tools that cannot

            usage: attache COMMAND [OPTION]... [ARGUMENT]...

            \(rows.joined(separator: "\n"))

              -h, --help   show this text; 'attache COMMAND --help' explains a command
              --version    the same as 'version'

            'attache help TOPIC' is the manual of the rule file:

            \(topics.joined(separator: "\n"))

            TOPIC can also be a word of the rule file, or another word, such as 'docker' or '407'.

            Results go to standard output, everything else to standard error. The exit status is 0 for success,
            1 when something failed, 2 when the command line or the rule file is wrong.
            """
    }

    /// Returns topics as a list of the commands that show them.
    static func list(_ topics: [ManualTopic]) -> String {
        CommandSyntax.table(topics.map { ($0.name, $0.title) }, margin: "  attache help ").joined(separator: "\n")
    }

    /// Returns the text about a topic, a command, a directive or another word, ignoring case; nil if nothing is found.
    func text(about asked: String) -> String? {
        let word = asked.lowercased()
        let command = commands.first { $0.name == word }
        if let topic = ManualTopic.named(word) {
            let text = ManualText.of(topic, width: Self.width)
            return command == nil ? text : "\(text)\n\nThe command of that name: attache \(word) --help"
        }
        let explaining = ManualTopic.explaining(word)
        let listing = ManualTopic.listing(word)
        let related = explaining + listing.filter { topic in !explaining.contains { $0.name == topic.name } }
        let more = "\n\nMore: " + related.map { "attache help \($0.name)" }.joined(separator: ", ")
        if let command { return related.isEmpty ? command.help : command.help + more }
        if !explaining.isEmpty {
            let entries = explaining.flatMap { $0.entries.filter { $0.name == word } }
            return ManualText.of(entries, width: Self.width) + more
        }
        if let topic = listing.first, listing.count == 1 { return ManualText.of(topic, width: Self.width) }
        let topics = listing.isEmpty ? ManualTopic.mentioning(word, count: 5) : listing
        guard !topics.isEmpty else { return nil }
        return "These topics are about '\(Console.printable(asked))':\n\n\(Self.list(topics))"
    }

    /// The words for which there is a text.
    var words: [String] {
        let directives = ManualTopic.all.flatMap(\.entries).map(\.name)
        return Set(ManualTopic.all.map(\.name) + commands.map(\.name) + directives).sorted()
    }
}
