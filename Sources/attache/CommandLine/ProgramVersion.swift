/// The version of this program, as `attache version` prints it.
enum ProgramVersion {
    static let text = "0.1.0"
}
