import Bytes
import IO
import Synchronization

/// A PAC file with its recent results. It is read again when it changes.
public final class PACFile: Sendable {
    private struct Question: Hashable {
        let scheme: String
        let host: String
        let port: UInt16
    }

    private struct Known {
        let answer: Result<[PACPath], Failure>
        let until: ContinuousClock.Instant
    }

    private struct Memory {
        /// The size and dates of the PAC file when the script's answers below were computed; nil before the first answer.
        var stamp: SmallFile.Stamp?
        var answers: [Question: Known] = [:]
    }

    public let path: String
    private let program: String
    private let limit: Duration
    private let known = Mutex<Memory>(Memory())
    private let engines = (0..<PACFile.width).map { _ in PACFile.Engine() }
    private let questions = FairScheduler<Question, Result<[PACPath], Failure>>(
        on: BlockingPool(threads: PACFile.width), threads: PACFile.width, waiting: PACFile.waiting)

    /// The number of processes that evaluate at the same time.
    private static let width = 4
    /// The limit of waiting questions.
    private static let waiting = 256
    private static let keptFor = Duration.seconds(60)
    private static let failureKeptFor = Duration.seconds(5)
    private static let capacity = 4096

    /// - Parameters:
    ///   - program: the program that evaluates the file; see `PACWorker`.
    ///   - limit: the time limit of one answer.
    public init(path: String, program: String = "/proc/self/exe", limit: Duration = .seconds(5)) {
        self.path = path
        self.program = program
        self.limit = limit
    }

    /// The reason why the file cannot be used; nil: it can. Blocks.
    public func check() -> Failure? {
        engines[0].state.withLock { engine in
            do throws(Failure) {
                try start(&engine)
                return nil
            } catch { return error }
        }
    }

    /// The ways to a server. Call it on the client's loop.
    ///
    /// - Parameters:
    ///   - scheme: the protocol of the server.
    ///   - host: a name, or an address without brackets.
    ///   - client: the client that needs the ways.
    public func ways(
        to scheme: String, host: String, port: UInt16, for client: WaitingClient
    ) async throws(Failure) -> [PACPath] {
        let question = Question(scheme: scheme, host: host, port: port)
        if let known = lookUp(question) { return try known.get() }
        switch await questions.run(question, for: client, { [self] in lookUp(question) ?? evaluate(question) }) {
        case .done(let answer): return try answer.get()
        case .refused(let time): throw .busy(retryAfter: time)
        case .abandoned: throw .abandoned
        }
    }

    private func lookUp(_ question: Question) -> Result<[PACPath], Failure>? {
        known.withLock { known in
            guard let entry = known.answers[question], entry.until > .now else { return nil }
            return entry.answer
        }
    }

    private func evaluate(_ question: Question) -> Result<[PACPath], Failure> {
        for engine in engines {
            if let answer = engine.state.withLockIfAvailable({ evaluate(question, by: &$0) }) { return answer }
        }
        return engines[0].state.withLock { evaluate(question, by: &$0) }
    }

    private func evaluate(_ question: Question, by engine: inout PACFile.Engine.State) -> Result<[PACPath], Failure> {
        let answer = Result { () throws(Failure) in PACPath.list(try told(&engine, about: question)) }
        let isKnown = if case .success = answer { true } else { false }
        known.withLock { known in
            // The result of an older file is not stored for others.
            guard known.stamp == engine.stamp else { return }
            if known.answers.count >= Self.capacity { known.answers.removeAll(keepingCapacity: true) }
            known.answers[question] = Known(
                answer: answer, until: .now + (isKnown ? Self.keptFor : Self.failureKeptFor))
        }
        return answer
    }

    /// Makes sure that a process runs which has read the current file.
    private func start(_ engine: inout PACFile.Engine.State) throws(Failure) {
        let stamp = SmallFile.Stamp(path: path)
        if engine.process != nil, engine.stamp == stamp { return }
        engine.process = nil
        engine.stamp = stamp
        known.withLock { known in
            if known.stamp != stamp { known = Memory(stamp: stamp) }
        }
        engine.process = try PACProcess(program: program, path: path, within: limit)
    }

    /// The answer of the running process, or of a new one if that has died.
    private func told(_ engine: inout PACFile.Engine.State, about question: Question) throws(Failure) -> String {
        let mayHaveDied = engine.process != nil
        try start(&engine)
        do throws(Failure) { return try ask(&engine, question) } catch {
            guard case .unavailable = error, mayHaveDied, engine.process == nil else { throw error }
        }
        try start(&engine)
        return try ask(&engine, question)
    }

    private func ask(_ engine: inout PACFile.Engine.State, _ question: Question) throws(Failure) -> String {
        guard let process = engine.process else { throw .unavailable("the PAC file \(path) was not read") }
        let host = question.host.utf8.contains(.colon) ? "[\(question.host)]" : question.host
        do throws(Failure) {
            return try process.ask(
                url: "\(question.scheme)://\(host):\(question.port)/", host: question.host, within: limit)
        } catch {
            // The process may still be busy; the next question needs another one.
            if case .broken = error { throw error }
            engine.process = nil
            throw error
        }
    }

    /// A slot for one process that evaluates the file. There are several, since a script may wait for DNS.
    fileprivate final class Engine: Sendable {
        struct State {
            var process: PACProcess?
            /// The state of the file that the process has read.
            var stamp: SmallFile.Stamp?
        }

        /// Locked while the process is working.
        let state = Mutex<State>(State())
    }

    /// The reason why a PAC file gives no way.
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The machine lacks something; the text is a sentence.
        case unavailable(String)
        /// The script is invalid, or throws; the text is its engine's.
        case broken(String)
        case timedOut
        /// Too many questions wait. There may be room after this time.
        case busy(retryAfter: Milliseconds)
        /// The client has left, and the script was not called.
        case abandoned

        public var description: String {
            switch self {
            case .unavailable(let sentence): sentence
            case .broken(let text): "its script fails (\(text))"
            case .timedOut: "its script does not come to an end"
            case .busy: "its script is asked more than it can answer"
            case .abandoned: "its script was not asked, as the client left"
            }
        }
    }
}
