import Authentication
import Synchronization

/// The rule file's credentials with their present values. A version changes when a value does.
public final class ConfiguredCredentials: Sendable {
    private let configured: [ConfiguredCredential]
    private let reader: ValueReader
    private let state = Mutex(State())

    private struct State {
        var credentials: [String: Credential] = [:]
        var errors: [String: CredentialError] = [:]
    }

    /// What a refresh found.
    public struct Refresh: Sendable {
        /// The credentials that have a new value.
        public let changed: [Credential]
        /// What could not be read; where there was a value before, it still holds.
        public let errors: [CredentialError]
    }

    /// Nothing is read yet: call `refresh` first.
    ///
    /// - Parameter environment: the process's, at the time the rules were loaded.
    public init(_ configured: [ConfiguredCredential], environment: [String: String]) {
        self.configured = configured
        reader = ValueReader(environment: environment)
    }

    /// Reads all sources, and takes over what changed. Blocks on files: never on a loop.
    @discardableResult
    public func refresh() -> Refresh {
        var changed: [Credential] = []
        var errors: [CredentialError] = []
        for entry in configured {
            do throws(CredentialError) {
                let credential = try read(entry)
                if take(credential) { changed.append(credential) }
            } catch {
                errors.append(error)
                state.withLock { $0.errors[entry.name] = error }
            }
        }
        return Refresh(changed: changed, errors: errors)
    }

    /// The last good value.
    public func credential(named name: String) throws(CredentialError) -> Credential {
        let (credential, error) = state.withLock { ($0.credentials[name], $0.errors[name]) }
        if let credential { return credential }
        throw error ?? .unknown(credential: name)
    }

    private func read(_ entry: ConfiguredCredential) throws(CredentialError) -> Credential {
        let user = try reader.text(of: entry.user, for: entry.name)
        let password = try reader.secret(of: entry.password, for: entry.name)
        return Credential(name: entry.name, user: user, password: password)
    }

    /// Whether the value is a new one.
    private func take(_ credential: Credential) -> Bool {
        state.withLock { state in
            state.errors[credential.version.name] = nil
            guard state.credentials[credential.version.name]?.version != credential.version else { return false }
            state.credentials[credential.version.name] = credential
            return true
        }
    }
}
