/// Directives to a `Configuration`. It goes on after an error, so that one run shows them all; what it built is
/// thrown away if there was any.
///
/// One extension for each kind of block; `RuleParser+Directives` holds what is true of every directive,
/// `RuleParser+Values` what a size, a duration or an address looks like, `RuleParser+Checks` what only the whole
/// file can show.
final class RuleParser<Reader: SourceReader> {
    let reader: Reader
    let sources: SourceMap
    let log: DiagnosticLog
    var configuration = Configuration()
    /// Top-level directives found inside a block whose brace is missing.
    var strays: [SyntaxNode] = []
    /// Where things were said that a later check may have to point at.
    var listenerRanges: [SourceRange] = []
    var credentialRanges: [String: SourceRange] = [:]
    var challengeSources: [ChallengeSource] = []
    var challengeNames: Set<String> = []
    var routeRanges: [SourceRange] = []
    var parentRanges: [String: SourceRange] = [:]
    /// The words of `via`, with the number of the route.
    var detours: [(route: Int, values: [Value])] = []
    var uses: [(name: String, range: SourceRange)] = []

    init(reader: Reader, sources: SourceMap, log: DiagnosticLog) {
        self.reader = reader
        self.sources = sources
        self.log = log
    }

    func parse(_ nodes: [SyntaxNode]) -> Configuration {
        var isFirst = true
        var rest = nodes
        var seen: [FileDirective: SourceRange] = [:]
        while !rest.isEmpty {
            let directives = directives(FileDirective.self, in: rest, isClosed: true, seen: &seen)
            if isFirst, directives.contains(where: { $0.name == .listen }) { configuration.listeners = [] }
            isFirst = false
            for directive in directives { accept(directive) }
            rest = strays
            strays = []
        }
        check()
        return configuration
    }

    private func accept(_ directive: Directive<FileDirective>) {
        switch directive.name {
        case .listen: listen(directive)
        case .admin: configuration.admin = directive.values.first.flatMap(endpoint)
        case .threads: threads(directive)
        case .state: configuration.state = directive.values.first.map(path)
        case .log: accessLog(directive)
        case .limits: limits(directive.node)
        case .timeouts: timeouts(directive.node)
        case .clients: clients(directive.node)
        case .egress: egress(directive.node)
        case .credential: credential(directive)
        case .route: route(directive)
        case .challenge: challenge(directive)
        case .authority: authority(directive)
        case .store: store(directive)
        case .parent: parent(directive)
        }
    }

    private func listen(_ directive: Directive<FileDirective>) {
        guard let value = directive.values.first else { return }
        let tls = listenerTLS(directive.values.dropFirst())
        guard let endpoint = endpoint(value) else { return }
        if configuration.listeners.contains(where: { $0.endpoint == endpoint }), endpoint.port != 0 {
            log.report(at: value.range, "\(value.shown) is listened on already")
        }
        configuration.listeners.append(.init(endpoint, tls: tls))
        listenerRanges.append(value.range)
    }

    private func threads(_ directive: Directive<FileDirective>) {
        guard let value = directive.values.first else { return }
        if value.text == "auto" {
            configuration.threads = .automatic
        } else if let count = number(value, 1...1024, or: ["auto"]) {
            configuration.threads = .count(count)
        }
    }

    private func accessLog(_ directive: Directive<FileDirective>) {
        typealias Format = Configuration.Log.Format
        guard let first = directive.values.first,
            let format = keyword(first, Format.self, later: ["combined", "squid"])
        else { return }
        configuration.log.format = format
        guard directive.values.count > 1 else { return }
        let destination = directive.values[1]
        if format == .off {
            log.report(at: destination.range, "'log off' takes nothing more")
            return
        }
        switch (destination.text, directive.values.count) {
        case ("stdout", 2): configuration.log.destination = .standardOutput
        case ("stderr", 2): configuration.log.destination = .standardError
        case ("file", 3): configuration.log.destination = .file(path(directive.values[2]))
        case ("file", 2): log.report(at: destination.range, "'log \(format.rawValue) file' needs a path")
        default:
            let words = ["stdout", "stderr", "file"]
            if words.contains(destination.text) {
                let extra = directive.values[destination.text == "file" ? 3 : 2]
                log.report(at: extra.range, "nothing more may follow here")
            } else {
                log.report(
                    at: destination.range, "a log goes to 'stdout', 'stderr' or 'file' and a path",
                    suggestion: Suggestion.nearest(to: destination.text, among: words))
            }
        }
    }
}
