import Bytes
import IO

/// Connects to one of several addresses: Happy Eyeballs (RFC 8305). Attempts start 250 ms apart, or as soon as the one
/// before has failed; the first to arrive wins and the others are closed.
public struct Connector {
    private let loop: EventLoop
    private let wakeup: Wakeup
    private var waiting: ArraySlice<SocketAddress>
    private var attempts: [Socket] = []
    private var failure = IOError.timedOut

    /// Milliseconds between attempts: RFC 8305 section 8, "Connection Attempt Delay".
    private static let stagger = 250

    private init(_ addresses: [SocketAddress], on loop: EventLoop, wakeup: Wakeup) {
        self.loop = loop
        self.wakeup = wakeup
        waiting = Self.interleaved(addresses)[...]
    }

    /// - Parameters:
    ///   - addresses: already judged; no other is dialled.
    ///   - limit: milliseconds for all attempts together.
    /// - Throws: `timedOut`, or the error of the last attempt that failed.
    public static func connect(
        to addresses: [SocketAddress], within limit: Int, on loop: EventLoop, wakeup: Wakeup
    ) async throws(IOError) -> ByteStream {
        var connector = Connector(addresses, on: loop, wakeup: wakeup)
        return ByteStream(try await connector.race(within: limit))
    }

    private mutating func race(within limit: Int) async throws(IOError) -> Socket {
        let next = Alarm(on: loop) { [wakeup] in wakeup.signal() }
        let deadline = Alarm(on: loop) { [wakeup] in wakeup.signal() }
        deadline.set(after: limit)
        while true {
            if let winner = arrived() {
                for loser in attempts where loser !== winner { loser.close() }
                return winner
            }
            if deadline.hasRung {
                for attempt in attempts { attempt.close() }
                throw .timedOut
            }
            if attempts.isEmpty || next.hasRung, let address = waiting.popFirst() {
                start(address)
                next.set(after: Self.stagger)
                continue
            }
            if attempts.isEmpty { throw failure }
            await wakeup.wait()
        }
    }

    private mutating func start(_ address: SocketAddress) {
        do throws(IOError) {
            let attempt = try Socket.connecting(to: address, on: loop)
            attempt.wakeup = wakeup
            attempts.append(attempt)
        } catch {
            failure = error
        }
    }

    /// The first attempt that is connected; those that failed are closed and forgotten.
    private mutating func arrived() -> Socket? {
        var place = 0
        while place < attempts.count {
            switch attempts[place].connectionResult() {
            case .success: return attempts[place]
            case .failure(let error):
                failure = error
                attempts.remove(at: place).close()
            case nil: place += 1
            }
        }
        return nil
    }

    /// RFC 8305 section 4: families take turns, IPv6 first, each in the order the resolver gave.
    static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
        var six = addresses.filter { $0.address.family == .v6 }[...]
        var four = addresses.filter { $0.address.family == .v4 }[...]
        var ordered: [SocketAddress] = []
        while !six.isEmpty || !four.isEmpty {
            if let address = six.popFirst() { ordered.append(address) }
            if let address = four.popFirst() { ordered.append(address) }
        }
        return ordered
    }
}
