import Bytes
import IO
import TestSupport

/// A client that floods. When the proxy has ended its connection, it connects again.
struct Attacker: Sendable {
    let flood: Flood
    private let head: FieldList
    /// The frames of a connection, made before the attack so that they cost no time during it.
    private let pieces: [[UInt8]]
    private let security: LoadSecurity
    /// Steps of the flood, and steps that are sent at once.
    private static let (steps, share) = (5000, 50)
    private static let mostBytes = 16 << 20

    /// - Parameter origin: the port that the attacker's requests are for.
    init(_ flood: Flood, origin: UInt16, _ security: LoadSecurity) {
        self.flood = flood
        self.security = security
        // The stream that carries useless frames must last.
        let path = flood.needsStream ? "/silent" : "/small"
        head = [(":method", "POST"), (":scheme", "http"), (":authority", "127.0.0.1:\(origin)"), (":path", path)]
        var (pieces, bytes): ([[UInt8]], Int) = ([], 0)
        for start in stride(from: 0, to: Self.steps, by: Self.share) where bytes < Self.mostBytes {
            var piece: [UInt8] = []
            for step in start..<start + Self.share { piece += flood.frames(step, head) }
            bytes += piece.count
            pieces.append(piece)
        }
        self.pieces = pieces
    }

    /// Attacks for so many milliseconds; to be called on the loop.
    /// - Returns: the number of connections that the proxy ended, at least one.
    /// - Throws: a connection that the proxy did not end, or not because of the flood.
    func attack(port: UInt16, milliseconds: Int, on loop: EventLoop) async throws(BenchError) -> Int {
        let end = loop.now + Milliseconds(milliseconds)
        var connections = 0
        repeat {
            try await attackOnce(port: port, on: loop)
            connections += 1
        } while loop.now < end
        return connections
    }

    private func attackOnce(port: UInt16, on loop: EventLoop) async throws(BenchError) {
        let client = try await FrameClient.connect(to: port, security, on: loop)
        defer { client.close() }
        do throws(IOError) {
            if flood.needsStream { try await client.send(Frame.headers(1, head, ends: false)) }
            for piece in pieces { try await client.send(piece) }
        } catch .timedOut {
            throw .contestant("the proxy neither took the frames of \(flood) nor ended their connection")
        } catch {
            // The proxy has ended the connection.
        }
        let code: UInt32?
        do throws(IOError) {
            code = try await client.readToEnd()
        } catch {
            throw .contestant("the proxy did not end the connection of \(flood)")
        }
        // ENHANCE_YOUR_CALM, or the library's PROTOCOL_ERROR. Without a code, the end of TCP overtook it.
        guard let code, code != 11, code != 1 || !flood.isEndedByLibrary else { return }
        throw .contestant("the proxy ended the connection of \(flood) with the code \(code)")
    }
}
