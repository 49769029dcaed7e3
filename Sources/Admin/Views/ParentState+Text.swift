import Model
import Telemetry

extension ParentState {
    /// The parent for people: its name and address, and whether connections to it succeed.
    var words: String {
        let found = isFound ? ", named by a PAC file" : ""
        var words = "\(parent.name), \(parent.kind)://\(parent.address)\(found): \(standing)"
        guard isUsed else { return words }
        words += "; \(connectionsInUse) active, \(idle) idle; \(requests) requests"
        if refusals > 0 { words += ", \(refusals) × 407" }
        if failingSince == nil, let lastError {
            words += "; last error \(AdminTime.text(lastError.time)): \(lastError.reason)"
        }
        return words
    }

    private var standing: String {
        guard isUsed else { return "not used yet" }
        guard let failingSince else { return "up" }
        let next = nextTry.map { ", next try \(AdminTime.text($0))" } ?? ""
        let reason = lastError.map { " (\($0.reason))" } ?? ""
        return "failing since \(AdminTime.text(failingSince))\(next)\(reason)"
    }

    private var state: String { !isUsed ? "unused" : failingSince == nil ? "up" : "failing" }

    func write(to json: inout JSONText) {
        json.object { json in
            json.member(ParentField.name, parent.name)
            json.member(ParentField.kind, parent.kind)
            json.member(ParentField.address, parent.address)
            json.member(ParentField.found, isFound)
            json.member(ParentField.state, state)
            json.member(ParentField.failingSince, time: failingSince)
            json.member(ParentField.nextTry, time: nextTry)
            json.member(ParentField.lastError, lastError?.reason)
            json.member(ParentField.lastErrorTime, time: lastError?.time)
            json.member(ParentField.active, connectionsInUse)
            json.member(ParentField.idle, idle)
            json.member(ParentField.requests, requests)
            json.member(ParentField.refused, refusals)
            json.member(ParentField.failures, failures)
        }
    }
}
