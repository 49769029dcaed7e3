import Bytes
import Synchronization

/// The tokens that servers have announced: for each credential and path, the resource and scopes to ask for. It contains
/// no token.
public final class AnnouncedTokens: Sendable {
    private struct Entry {
        let credential: CredentialVersion
        /// The path of the resource.
        let path: [UInt8]
        /// The credential with the grant of exactly this token.
        let exact: Credential
    }

    private let entries = Mutex<[Origin: [Entry]]>([:])

    /// The limits of origins, and of resources for each.
    private static let (originLimit, entryLimit) = (256, 8)

    public init() {}

    /// The credential for exactly the token that was announced for the target; nil if none was. Allocates nothing.
    public func exact(for credential: CredentialVersion, at origin: Origin, target: Span<UInt8>) -> Credential? {
        entry(for: credential, at: origin, target: target)?.exact
    }

    /// Keeps the token for the path and what is below it.
    public func put(_ exact: Credential, for credential: CredentialVersion, at origin: Origin, path: [UInt8]) {
        entries.withLock { entries in
            if entries.count >= Self.originLimit, entries[origin] == nil { entries.removeAll() }
            var list = entries[origin] ?? []
            list.removeAll { $0.credential.key == credential.key && $0.path == path }
            list.append(Entry(credential: credential, path: path, exact: exact))
            entries[origin] = Array(list.suffix(Self.entryLimit))
        }
    }

    /// The path whose token is kept for the target; nil if none is.
    public func path(for credential: CredentialVersion, at origin: Origin, target: Span<UInt8>) -> [UInt8]? {
        entry(for: credential, at: origin, target: target)?.path
    }

    /// The entry with the longest path that covers the target. Allocates nothing.
    private func entry(for credential: CredentialVersion, at origin: Origin, target: Span<UInt8>) -> Entry? {
        entries.withLock { entries in
            guard let list = entries[origin] else { return nil }
            var found: Int?
            for index in list.indices
            where list[index].credential == credential && Self.covers(list[index].path, target)
                && list[index].path.count > found.map({ list[$0].path.count }) ?? -1
            {
                found = index
            }
            return found.map { list[$0] }
        }
    }

    static func covers(_ path: [UInt8], _ target: [UInt8]) -> Bool { covers(path, target.span) }

    /// Whether the target is the path or below it.
    private static func covers(_ path: [UInt8], _ target: Span<UInt8>) -> Bool {
        guard path.count <= target.count else { return false }
        for index in path.indices where path[index] != target[index] { return false }
        if path.isEmpty || path.last == .slash || path.count == target.count { return true }
        return target[path.count] == .slash || target[path.count] == UInt8(ascii: "?")
    }
}
