import Authentication
import Credentials
import IO

/// What all loops know together and what outlives a reload: the protection spaces met, and the stored credentials.
public final class SharedState: Sendable {
    public let spaces = ProtectionSpaces()
    public let storage: any CredentialStorage
    /// Where operators read of trouble; a line at a time.
    let report: @Sendable (String) -> Void

    public init(storage: any CredentialStorage, report: @escaping @Sendable (String) -> Void) {
        self.storage = storage
        self.report = report
    }

    /// Reads the configured credentials again, off the loops. A value that changed is a new version, and what was
    /// parked of the old one is forgotten.
    func refresh(_ credentials: ConfiguredCredentials) async {
        let refresh = await BlockingPool.shared.run { credentials.refresh() }
        adopt(refresh)
    }

    /// Takes note of what a refresh found.
    public func adopt(_ refresh: ConfiguredCredentials.Refresh) {
        for credential in refresh.changed { spaces.replace(with: credential.version) }
    }
}
