import Model
import Telemetry

extension WeakUse {
    /// The use as a sentence for people.
    var words: String {
        let place =
            "\(server.protocol)://\(server.host.contains(":") ? "[\(server.host)]" : server.host):\(server.port)"
        let parties = [client, application, credential.map { "credential \($0)" }].compactMap(\.self)
        return "\(finding) to \(server.role.words)\(place), "
            + "last \(AdminTime.text(last)) by \(parties.joined(separator: ", "))"
    }

    func write(to json: inout JSONText) {
        json.object { json in
            json.member(WeakUseField.finding, finding)
            json.member(WeakUseField.host, server.host)
            json.member(WeakUseField.port, Int(server.port))
            json.member(WeakUseField.protocol, server.protocol)
            json.member(WeakUseField.proxy, server.role == .parent)
            json.member(WeakUseField.listener, server.role == .listener)
            json.member(WeakUseField.client, client)
            json.member(WeakUseField.application, application)
            json.member(WeakUseField.credential, credential)
            json.member(WeakUseField.first, time: first)
            json.member(WeakUseField.last, time: last)
        }
    }
}

extension WeakUse.Server.Role {
    /// The words before the server's address, for people.
    fileprivate var words: String {
        switch self {
        case .origin: ""
        case .parent: "the parent "
        case .listener: "this proxy's listener "
        }
    }
}
