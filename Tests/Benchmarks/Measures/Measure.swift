/// A group of figures that are taken together, under the name that `--only` knows.
enum Measure: String, CaseIterable {
    case requests
    case digestRequests = "digest-requests"
    case log
    case dashboard
    case questions
    case tunnels
    case bodies
    case sizes
    case instructions
    case digestInstructions = "digest-instructions"
    case answers
    case rules
    case placeholders
    case newConnections = "new-connections"
    case logins
    case allocations
    case digestAllocations = "digest-allocations"
    case memory
    case tunnelMemory = "tunnel-memory"
    case secureRequests = "tls-requests"
    case secureAllocations = "tls-allocations"
    case streams
    case streamInstructions = "stream-instructions"
    case streamAllocations = "stream-allocations"
    case streamMemory = "stream-memory"
    case floods
    case originHandshakes = "origin-handshakes"
    case clientHandshakes = "client-handshakes"
    case interception
    case interceptionMemory = "interception-memory"
    case parents
    case start
    case store
    case binary

    func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        switch self {
        case .requests: try await RequestMeasure.take(.plain, in: setting)
        case .digestRequests: try await RequestMeasure.take(.digest, in: setting)
        case .log:
            try await RequestMeasure.takeLogged(in: setting) + InstructionMeasure.take(.logged, in: setting)
        case .dashboard: try await OperatorMeasure.takeDashboard(in: setting)
        case .questions: try await OperatorMeasure.takeQuestions(in: setting)
        case .tunnels: try await BodyMeasure.takeTunnels(in: setting)
        case .bodies: try await BodyMeasure.takeBodies(in: setting)
        case .sizes: try await SizeMeasure.take(in: setting)
        case .instructions: try await InstructionMeasure.take(.plain, in: setting)
        case .digestInstructions: try await InstructionMeasure.take(.digest, in: setting)
        case .answers: try await InstructionMeasure.take(.basic, .bearer, .ntlm, .challenged, in: setting)
        case .rules: try await InstructionMeasure.takeRules(in: setting)
        case .placeholders: try await InstructionMeasure.takePlaceholders(in: setting)
        case .newConnections:
            try await RequestMeasure.take(.newClient, in: setting) + RequestMeasure.take(.newOrigin, in: setting)
                + InstructionMeasure.take(.newClient, .newOrigin, in: setting)
        case .logins: try await LoginMeasure.take(in: setting)
        case .allocations: try await AllocationMeasure.take(.plain, in: setting)
        case .digestAllocations: try await AllocationMeasure.take(.digest, in: setting)
        case .memory: try await MemoryMeasure.take(in: setting)
        case .tunnelMemory: try await MemoryMeasure.takeTunnels(in: setting)
        case .secureRequests: try await RequestMeasure.take(.secure, in: setting)
        case .secureAllocations: try await AllocationMeasure.take(.secure, in: setting)
        case .streams: try await StreamMeasure.take(in: setting)
        case .streamInstructions:
            try await StreamMeasure.takeInstructions(in: setting) + InstructionMeasure.take(.multiplexed, in: setting)
        case .streamAllocations: try await StreamMeasure.takeAllocations(in: setting)
        case .streamMemory: try await StreamMemoryMeasure.take(in: setting)
        case .floods: try await FloodMeasure.take(in: setting)
        case .originHandshakes: try await HandshakeMeasure.takeOrigins(in: setting)
        case .clientHandshakes: try await HandshakeMeasure.takeClients(in: setting)
        case .interception: try await InterceptionMeasure.take(in: setting)
        case .interceptionMemory: try await InterceptionMeasure.takeMemory(in: setting)
        case .parents: try await ParentMeasure.take(in: setting)
        case .start: try await StartMeasure.take(in: setting)
        case .store: try await StoreMeasure.take(in: setting)
        case .binary: try BinaryMeasure.take(in: setting)
        }
    }
}
