import Credentials
import Rules

extension CredentialStorePlace {
    /// The store that a rule file speaks of, else the usual one. Nil when nobody knows where that is to be.
    init?(_ configuration: Configuration) {
        if let store = configuration.store {
            let key = store.key.map { Credentials.ValueSource($0) }
            switch store.place {
            case .sqlite(let path): self.init(sqlite: path, key: key)
            case .postgresql(let info):
                // The parser wants a key there.
                guard let key else { return nil }
                self.init(postgresql: .init(info), key: key)
            }
        } else {
            guard let directory = StatePath.find(configuration.state) else { return nil }
            self.init(sqlite: "\(directory)/credentials.db", key: nil)
        }
    }
}

extension Configuration {
    /// Whether something is to be kept that outlives the process.
    var keepsCredentials: Bool { challenges.contains { $0.persistence == .permanent || $0.learns } }
}
