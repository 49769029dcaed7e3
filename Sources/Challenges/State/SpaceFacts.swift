import Authentication
import Bytes
import Credentials
import Model

/// All that a process knows of a protection space, or of an origin where no space is asked about, for an explanation. Names
/// of credentials, never their values.
public struct SpaceFacts: Sendable {
    /// The stored credential that `default` answers with; nil: none is stored for the space.
    public let stored: String?
    /// The credentials that something is held against at the origin.
    public let held: [(name: String, standing: Account.Standing, reason: String?)]
    /// The credentials that a request for the target would not be answered with now, and until when: milliseconds since 1970;
    /// `Int.max`: until the value is set again.
    public let refused: [(name: String, end: Int)]
    /// The space that the target lies in, where requests to it are answered unasked; nil: there is none.
    public let covering: ProtectionSpace?
    /// The credentials that space has accepted.
    public let accepted: [String]
    /// Whether the target was last seen to ask for none.
    public let isOpen: Bool
    /// Whether anything is stored for the origin.
    public let isServed: Bool
}

extension ChallengeState {
    /// - Parameters:
    ///   - space: of the method `default` where the origin is asked about.
    ///   - target: the request's, as the origin gets it.
    ///   - now: milliseconds since 1970.
    public func facts(of space: ProtectionSpace, at target: Span<UInt8>, now: Int) -> SpaceFacts {
        let isOfOrigin = space.authenticationMethod == .default
        let origin = space.origin
        let known = spaces.known(
            host: origin.host.utf8Span.span, port: origin.port, protocol: origin.protocol, isProxy: origin.isProxy)
        let covering = known?.space(covering: target)
        let stored = isOfOrigin ? nil : storage.proposedCredential(for: space)
        return SpaceFacts(
            stored: stored?.version.name,
            held: spaces.accounts.standings(at: origin.serverName, now: now),
            refused: spaces.accounts.refused(at: origin.serverName, for: Evidence.hash(target), now: now),
            covering: covering?.space, accepted: covering?.acceptedNames ?? [],
            isOpen: known?.isOpen(target) ?? false, isServed: storage.mayAnswer(origin))
    }
}
