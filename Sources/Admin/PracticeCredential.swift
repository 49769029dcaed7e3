/// The credential that opens the practice origin. It is public on purpose: it protects nothing, and proxy.conf.example
/// has to name it.
enum PracticeCredential {
    static let user = "practice"
    static let password = "practice makes perfect"
}
