/// A group of figures that are taken together.
enum Measure: String, CaseIterable {
    case requests
    case bodies
    case instructions
    case allocations
    case memory
    case start
    case binary

    func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        switch self {
        case .requests: try await RequestMeasure.take(in: setting)
        case .bodies: try await BodyMeasure.take(in: setting)
        case .instructions: try await InstructionMeasure.take(in: setting)
        case .allocations: try await AllocationMeasure.take(in: setting)
        case .memory: try await MemoryMeasure.take(in: setting)
        case .start: try await StartMeasure.take(in: setting)
        case .binary: try BinaryMeasure.take(in: setting)
        }
    }
}
