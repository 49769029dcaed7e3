import Authentication
import Rules
import Telemetry

extension SharedState {
    /// A server has definitely refused a credential: from now on nobody sends this version there, until its value changes.
    func refuse(
        _ credential: Credential, for space: ProtectionSpace, of client: ClientIdentity, countedBy metrics: Metrics,
        because reason: String? = nil
    ) {
        if spaces.refuse(credential.version, for: space) {
            report(
                "\(credential) \(reason ?? "was refused by \(space.host):\(space.port)") and is not sent again until its "
                    + "value changes")
        }
        sessionCredentials.remove(credential.version, for: space, of: client)
        metrics.add(to: .credentialsRefused)
    }
}
