import Credentials
import IO
import Proxy
import Rules
import Synchronization
import Telemetry
import Upstream

/// The destinations of the log. Each has one stream as long as the process lives, so that the lines of one file keep their
/// order over a reload.
enum Logs {
    /// A destination that is open.
    struct Opened {
        let stream: LogStream
        /// Nil: the system's log.
        let file: OutputFile?

        /// Whether standard error leads there, too: then it has no need of what the log has.
        var isStandardError: Bool { file?.isSame(as: .standardError) ?? false }
        var isTerminal: Bool { file?.isTerminal ?? false }

        /// Colours are for terminals that can show them, and for people who want them (no-color.org).
        var hasColours: Bool {
            isTerminal && (Environment.value(of: "NO_COLOR") ?? "").isEmpty && Environment.value(of: "TERM") != "dumb"
        }
    }

    private static let streams = Mutex<[String: LogStream]>([:])
    private static let standardOutput = LogStream(to: LineWriter(OutputFile.standardOutput) { report($0) })
    /// Sentences for the operator go there as well: if it takes none, nobody can be told.
    static let standardError = Opened(stream: LogStream(to: .standardError), file: .standardError)

    /// The log of a destination; a file is opened, and opened anew if it was open.
    static func open(_ destination: Configuration.Log.Destination) throws(IOError) -> Opened {
        switch destination {
        case .standardOutput: return Opened(stream: standardOutput, file: .standardOutput)
        case .standardError: return standardError
        case .file(let path):
            let file = try OutputFile(appendingTo: path)
            return Opened(stream: stream(of: path, to: file, behind: nil), file: file)
        case .syslog(let path):
            let header = SyslogHeader(process: LocalPeer.ownProcess)
            return Opened(stream: stream(of: path, to: SyslogSocket(path), behind: header), file: nil)
        }
    }

    private static func stream(of path: String, to sink: any LineSink, behind header: SyslogHeader?) -> LogStream {
        streams.withLock { streams in
            if let known = streams[path] {
                known.replace(with: sink)
                return known
            }
            let stream = LogStream(to: LineWriter(sink) { report($0) }, behind: header)
            streams[path] = stream
            return stream
        }
    }

    /// Says what becomes of lines, once each. Not from where they come: whoever writes one may hold the log.
    private static func report(_ change: LineWriter.Change) { BlockingPool.shared.submit { say(change) } }

    private static func say(_ change: LineWriter.Change) {
        let sentence =
            switch change {
            case .failed(let reason): "the access log cannot be written, and lines are lost: \(reason)"
            case .overtaxed: "the access log is too slow, and some lines are lost"
            case .recovered(let lost): "the access log works again; \(lost) lines were lost"
            }
        Console.report(sentence, as: .logTroubled)
    }
}

extension Configuration.Log {
    /// On a terminal, where nothing else is said, a person reads it.
    private var usedFormat: Format { isSaid || !Terminal.isStandardOutput ? format : .console }

    /// Opens the log, anew if it is open already.
    func open() throws(StartError) -> LogPolicy {
        var policy = LogPolicy()
        let format = usedFormat
        guard format != .off else {
            Console.share(withLog: false, forPeople: false)
            return policy
        }
        let opened: Logs.Opened
        do throws(IOError) { opened = try Logs.open(destination) } catch {
            throw StartError("the access log: \(error)")
        }
        if let exchanges = format.exchanges(inColours: opened.hasColours) {
            policy.writeExchanges(to: opened.stream, as: exchanges)
        }
        // The lines of other programs' formats have no room for anything else.
        let events = format.hasEvents || opened.file == nil ? opened : Logs.standardError
        let isForPeople = format == .console || !format.hasEvents && events.isTerminal
        policy.writeEvents(to: events.stream, as: isForPeople ? .console(hasColours: events.hasColours) : .json)
        Console.share(withLog: events.isStandardError, forPeople: isForPeople)
        return policy
    }

    /// What the log asks of the records of exchanges.
    var parts: ExchangeRecord.Parts { usedFormat.exchanges(inColours: false)?.parts ?? [] }
}

extension Configuration.Log.Format {
    /// Nil where exchanges are not logged.
    fileprivate func exchanges(inColours hasColours: Bool) -> AccessLogFormat? {
        switch self {
        case .json: .json
        case .common: .common
        case .combined: .combined
        case .squid: .squid
        case .console: .console(hasColours: hasColours)
        case .events, .off: nil
        }
    }

    fileprivate var hasEvents: Bool { self == .json || self == .console || self == .events }
}
