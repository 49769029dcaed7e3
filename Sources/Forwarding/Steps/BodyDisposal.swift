import Bytes
import HTTP
import IO
import Transport
import Upstream

extension UpstreamConnection {
    /// Reads a response body to its end and drops it, so that its connection can be used again.
    struct Disposal {
        /// How far one step came.
        enum Step {
            /// There is nothing to do until an event of the connection.
            case awaitsUpstream
            /// A part that was read ahead has to be read back from its file first: `UpstreamConnection.readBody`.
            case awaitsCopy
            /// The next request can go out, or the connection was closed.
            case ended
        }

        fileprivate var progress: BodyProgress
        fileprivate var discarded = 0
        /// Bytes after which the connection is given up.
        fileprivate let limit: Int

        /// Reads what has come, and closes the connection where the response is too long, too late or no good.
        mutating func advance(on upstream: UpstreamConnection) -> Step { upstream.discard(&self) }
    }
}

extension UpstreamConnection {
    /// Begins to read the rest of the response, at most `limit` bytes within that time; `discard` goes on.
    func beginDisposal(upTo limit: Int, limits: Limits, within milliseconds: Int) -> Disposal {
        consumeHead()
        stream?.setDeadline(after: milliseconds)
        return Disposal(progress: BodyProgress(head.framing, of: .upstream, limits: limits), limit: limit)
    }

    fileprivate func discard(_ disposal: inout Disposal) -> Disposal.Step {
        guard let stream else {
            head.reset()
            return .ended
        }
        let inbound = inbound
        while true {
            guard let taken = try? disposal.progress.take(inbound.readable) else { return giveUp() }
            inbound.consume(taken)
            disposal.discarded += taken
            if disposal.progress.isEnded { break }
            if disposal.discarded > disposal.limit || head.framing == .untilClose { return giveUp() }
            if holdsBody { return .awaitsCopy }
            if inbound.writableCount == 0 { inbound.reserve(1) }
            switch stream.tryRead(into: inbound) {
            case .moved: continue
            case .wouldBlock:
                if (try? stream.check()) == nil { return giveUp() }
                return .awaitsUpstream
            case .endOfStream, .failed: return giveUp()
            }
        }
        // Anything else, an end or a response nobody asked for, makes it useless.
        let isAtEnd = inbound.isEmpty && !disposal.progress.isIrregular && !isCondemned
        if !isAtEnd || stream.hasInput() { return giveUp() }
        head.reset()
        isReused = true
        return .ended
    }

    private func giveUp() -> Disposal.Step {
        reset()
        return .ended
    }

    /// Reads the rest of a response in a task.
    func discardBody(upTo limit: Int, limits: Limits, within milliseconds: Int) async {
        var disposal = beginDisposal(upTo: limit, limits: limits, within: milliseconds)
        while true {
            switch discard(&disposal) {
            case .awaitsUpstream: await stream?.socket.waitForEvent()
            case .awaitsCopy: await readBack(within: milliseconds)
            case .ended: return
            }
        }
    }

    /// Reads the part that was read ahead back from its file.
    func readBack(within milliseconds: Int) async {
        if (try? await readBody(within: milliseconds)) ?? 0 == 0 { reset() }
    }
}
