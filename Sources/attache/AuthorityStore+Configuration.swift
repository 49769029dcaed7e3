import Bytes
import Credentials
import Rules
import TLS

extension AuthorityStore {
    /// The authority that a rule file speaks of. Nil when nobody knows where it is to be kept.
    convenience init?(_ configuration: Configuration) {
        guard let place = AuthorityPlace(configuration) else { return nil }
        self.init(
            place, names: configuration.authority.names.map { NameConstraint($0) }, environment: Environment.all)
    }
}

extension AuthorityPlace {
    init?(_ configuration: Configuration) {
        if let files = configuration.authority.files {
            self = .files(
                certificate: files.certificate, key: files.key, passphrase: files.passphrase.map { .init($0) })
        } else {
            guard let directory = StatePath.find(configuration.state) else { return nil }
            self = .state(directory: directory)
        }
    }
}

extension NameConstraint {
    fileprivate init(_ name: Configuration.Authority.Name) {
        switch name {
        case .domain(let domain, let withItself): self = .domain(domain, withItself: withItself)
        case .addresses(let prefix): self = .network(prefix.address, prefixLength: prefix.length)
        }
    }
}
