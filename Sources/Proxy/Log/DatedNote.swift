import Authentication
import Bytes
import Challenges
import Forwarding
import HTTP
import IO
import Model
import TLS
import Telemetry
import Transport
import Upstream

/// Records weak mechanisms on the way to servers, which others on the network can read or break, and who uses them.
extension Requester {
    /// Records the weak mechanisms that the exchange used.
    ///
    /// - Parameter latest: the last record for this client. The same use is recorded once in ten seconds.
    func noteDatedWays(of exchange: Exchange, after latest: inout DatedNote) {
        let record = exchange.record
        let tls = record.security?.dated ?? []
        guard let destination = exchange.destination else { return }
        let note = DatedNote(
            origin: ObjectIdentifier(destination.origin), ways: tls.union(record.answer?.dated ?? []),
            parentWays: record.parentAnswer?.dated ?? [],
            time: loop.now)
        guard !latest.covers(note) else { return }
        latest = note
        let parties = (client: words(for: record.user), application: exchange.application)
        func put(_ ways: DatedWays, _ server: UpstreamServer?, _ credential: String?) {
            guard let authority = server?.authority else { return }
            for finding in ways.words {
                let peer = DatedUse.Server(
                    authority.protocol.rawValue, host: authority.host, port: authority.port,
                    as: authority.isProxy ? .parent : .origin)
                shared.datedUses.note(
                    DatedUse(
                        finding, of: peer, by: parties.client, parties.application,
                        with: credential.map { JournalText.printable($0, longest: 64) }, at: loop.epochMilliseconds))
            }
        }
        put(tls, destination.origin, nil)
        if let answer = record.answer { put(answer.dated, destination.origin, answer.credential) }
        let parent = destination.hops.compactMap(\.parent).first { $0.figures === record.parent }
        if let answer = record.parentAnswer { put(answer.dated, parent?.origin, answer.credential) }
    }

    /// Records a client that was refused because it speaks no TLS above 1.1, if that is the error.
    func noteDatedClient(_ error: HandshakeError, of user: String?, calling server: DatedUse.Server) {
        guard case .tls(.peer(reason: TLSError.tooOldVersion)) = error else { return }
        for finding in DatedWays.refusedTLS.words {
            shared.datedUses.note(
                DatedUse(finding, of: server, by: words(for: user), nil, with: nil, at: loop.epochMilliseconds))
        }
    }

    private func words(for user: String?) -> String {
        user.map { "\(JournalText.printable($0, longest: 64)) at \(address.unmapped)" } ?? "\(address.unmapped)"
    }
}

extension Requester {
    /// The last record of a client's weak mechanisms.
    struct DatedNote {
        var origin: ObjectIdentifier?
        var ways: DatedWays = []
        var parentWays: DatedWays = []
        /// The time of the note, on the loop's clock.
        var time: UInt64 = 0

        private static let memory: UInt64 = 10_000

        func covers(_ other: DatedNote) -> Bool {
            origin == other.origin && ways == other.ways && parentWays == other.parentWays
                && other.time &- time < Self.memory
        }
    }
}
