/// Reads `threads`, `log`, `limits` and `timeouts`.
struct SettingsReader: BlockReader {
    enum LimitsWord: String, DirectiveName {
        case replayMemory = "replay-memory"
        case replayDisk = "replay-disk"
        case replayDiskTotal = "replay-disk-total"
        case startLine = "start-line"
        case head
        case upstreamHead = "upstream-head"
        case fields
        case clients
        case clientsPerAddress = "clients-per-address"
        case requestsPerClient = "requests-per-client"
        case concurrentRequestsPerClient = "concurrent-requests-per-client"
        case streams
        case exchanges
        case decodeRatio = "decode-ratio"
        case questions

        static let block: String? = "limits"

        var grammar: DirectiveGrammar {
            switch self {
            case .replayMemory, .replayDisk, .replayDiskTotal, .startLine, .head, .upstreamHead:
                .one("a size such as 64k, 64m or 1g")
            case .fields, .clients, .clientsPerAddress, .concurrentRequestsPerClient, .streams, .exchanges,
                .decodeRatio, .questions:
                .one("a number")
            case .requestsPerClient: .some("a rate such as 100/s, perhaps with 'burst' and a number")
            }
        }
    }

    enum TimeoutsWord: String, DirectiveName {
        case head
        case idle
        case connect
        case response
        case drain
        case session
        case ask
        case helper

        static let block: String? = "timeouts"

        var grammar: DirectiveGrammar { .one("a duration such as 500ms, 10s, 5m or 1h") }
    }

    let context: ReadingContext

    func threads(_ directive: Directive<FileDirective>) -> Configuration.Threads? {
        guard let value = directive.values.first else { return nil }
        if value.text == "auto" { return .automatic }
        return parse.number(value, 1...1024, or: ["auto"]).map { .count($0) }
    }

    func accessLog(_ directive: Directive<FileDirective>, into settings: inout Configuration.Log) {
        settings.isSaid = true
        guard let format = directive.values.first.flatMap({ parse.keyword($0, Configuration.Log.Format.self) }) else {
            return
        }
        settings.format = format
        guard directive.values.count > 1 else { return }
        let destination = directive.values[1]
        if format == .off {
            log.report(at: destination.range, "nothing can follow 'log off'")
            return
        }
        switch (destination.text, directive.values.count) {
        case ("stdout", 2): settings.destination = .standardOutput
        case ("stderr", 2): settings.destination = .standardError
        case ("file", 3): settings.destination = .file(parse.path(directive.values[2]))
        case ("syslog", 2): settings.destination = .syslog(Configuration.Log.Destination.systemSocket)
        case ("syslog", 3): settings.destination = .syslog(parse.path(directive.values[2]))
        case ("file", 2): log.report(at: destination.range, "'log \(format.rawValue) file' needs a path")
        default:
            let words = ["stdout", "stderr", "file", "syslog"]
            if words.contains(destination.text) {
                let extra = directive.values[["file", "syslog"].contains(destination.text) ? 3 : 2]
                log.report(at: extra.range, "nothing can follow here")
            } else {
                log.report(
                    at: destination.range, "a log goes to 'stdout', 'stderr', 'syslog', or 'file' and a path",
                    suggestion: Suggestion.nearest(to: destination.text, among: words))
            }
        }
    }

    func limits(_ node: SyntaxNode, into limits: inout Configuration.Limits) {
        for directive in context.directives(SettingsReader.LimitsWord.self, in: node) {
            guard let value = directive.values.first else { continue }
            switch directive.name {
            case .replayMemory: parse.size(value, 0...1 << 30).map { limits.replayMemory = $0 }
            case .replayDisk: parse.size(value, 0...1 << 40).map { limits.replayDisk = $0 }
            case .replayDiskTotal: parse.size(value, 0...1 << 40).map { limits.replayDiskTotal = $0 }
            case .startLine: parse.size(value, 256...1 << 20).map { limits.startLine = $0 }
            case .head: parse.size(value, 1 << 10...1 << 20).map { limits.head = $0 }
            case .upstreamHead: parse.size(value, 1 << 10...1 << 24).map { limits.upstreamHead = $0 }
            case .fields: parse.number(value, 8...1024).map { limits.fields = $0 }
            case .clients: parse.number(value, 1...1_000_000).map { limits.clients = $0 }
            case .clientsPerAddress: limits.clientsPerAddress = parse.number(value, 1...1_000_000)
            case .requestsPerClient: limits.requestsPerClient = rate(directive.values)
            case .concurrentRequestsPerClient: limits.concurrentRequestsPerClient = parse.number(value, 1...1_000_000)
            case .streams: parse.number(value, 1...10_000).map { limits.streams = $0 }
            case .exchanges: parse.number(value, 1...100_000).map { limits.exchanges = $0 }
            case .decodeRatio: parse.number(value, 1...1_000_000).map { limits.decodeRatio = $0 }
            case .questions: parse.number(value, 1...10_000).map { limits.questions = $0 }
            }
        }
    }

    /// Parses a rate: `NUMBER/s`, `/m` or `/h`, perhaps with `burst NUMBER`.
    private func rate(_ values: [Value]) -> Configuration.RequestRate? {
        guard let value = values.first else { return nil }
        let parts = value.text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let count = parts.first.flatMap { ValueParser.decimal(String($0)) }
        guard parts.count == 2, let count, Self.rates.contains(count),
            let period = Configuration.RequestRate.Period(rawValue: String(parts[1]))
        else {
            refuse(
                value,
                "\(value.shown) is not a rate such as 100/s, 600/m or 1000/h, with a number up to \(Self.rates.upperBound)",
                suggestion: count.map { "\($0)/s" })
            return nil
        }
        guard values.count > 1 else { return Configuration.RequestRate(count: count, period: period, burst: count) }
        if values[1].text != "burst" || values.count > 3 {
            refuse(values[values[1].text == "burst" ? 3 : 1], "only 'burst' and a number can follow a rate")
            return nil
        }
        guard values.count == 3 else {
            refuse(values[1], "'burst' needs a number: the requests that a client may make at once")
            return nil
        }
        return parse.number(values[2], Self.rates).map {
            Configuration.RequestRate(count: count, period: period, burst: $0)
        }
    }

    private static let rates = 1...1_000_000

    func timeouts(_ node: SyntaxNode, into timeouts: inout Configuration.Timeouts) {
        for directive in context.directives(SettingsReader.TimeoutsWord.self, in: node) {
            guard let value = directive.values.first, let duration = parse.duration(value) else { continue }
            switch directive.name {
            case .head: timeouts.head = duration
            case .idle: timeouts.idle = duration
            case .connect: timeouts.connect = duration
            case .response: timeouts.response = duration
            case .drain: timeouts.drain = duration
            case .session: timeouts.session = duration
            case .ask: timeouts.ask = duration
            case .helper: timeouts.helper = duration
            }
        }
    }
}
