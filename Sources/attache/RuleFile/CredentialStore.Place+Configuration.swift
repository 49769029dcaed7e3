import Bytes
import Credentials
import IO
import Model
import Rules
import TLS

extension CredentialStore.Place {
    /// The store that a rule file names, else the usual one. Nil if its place is unknown.
    init?(_ configuration: Configuration) {
        if let store = configuration.store {
            // The parser requires a key if one is needed.
            self.init(store.location, key: store.key)
        } else {
            guard let directory = StatePath.find(configuration.state) else { return nil }
            self.init(file: "\(directory)/credentials.db", key: nil)
        }
    }

    /// The store of a rule file.
    /// - Throws: if its place is unknown.
    static func known(by configuration: Configuration) throws(CommandError) -> CredentialStore.Place {
        guard let place = CredentialStore.Place(configuration) else {
            throw .configuration(StatePath.unknown(for: "credentials"))
        }
        return place
    }
}

extension Configuration {
    /// Whether the rules store credentials that outlive the process.
    var keepsCredentials: Bool { challenges.contains { $0.persistence == .permanent || $0.learns } }
}

extension CAStore {
    /// The CA that a rule file names. Nil if its place is unknown.
    convenience init?(_ configuration: Configuration) {
        let place: Location
        if let files = configuration.authority.files {
            place = .files(certificate: files.certificate, key: files.key, passphrase: files.passphrase)
        } else {
            guard let directory = StatePath.find(configuration.state) else { return nil }
            place = .state(directory: directory)
        }
        self.init(
            place, names: configuration.authority.names.map { NameConstraint($0) }, environment: Environment.all)
    }

    /// The certificate of the CA, which is made if it is missing.
    func certificate() throws(CAStore.Problem) -> Certificate {
        try certificate(host: Environment.hostName, at: SystemClock.wallTime)
    }

    /// Replaces the CA by a new one.
    func renew() throws(CAStore.Problem) { try renew(host: Environment.hostName, at: SystemClock.wallTime) }
}

extension NameConstraint {
    fileprivate init(_ name: Configuration.Authority.Name) {
        switch name {
        case .domain(let domain, let withItself): self = .domain(domain, withItself: withItself)
        case .addresses(let prefix): self = .network(prefix.address, prefixLength: prefix.length)
        }
    }
}
