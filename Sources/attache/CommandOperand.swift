/// An argument that is no option.
struct CommandOperand: Sendable {
    let name: String
    var isOptional = false
}
