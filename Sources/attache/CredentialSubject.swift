import Authentication

/// The credential that a command line speaks of.
struct CredentialSubject {
    let space: ProtectionSpace
    let user: String

    init(_ arguments: Arguments) throws(CommandError) {
        guard let url = arguments.operand(1), let user = arguments.operand(2) else {
            throw arguments.error("\(arguments.operand(1) == nil ? "URL and USER are" : "USER is") missing")
        }
        if user.isEmpty || Console.printable(user) != user { throw arguments.error("'USER' is no user's name") }
        let realm = try SpaceTerms(arguments, defaultMethod: .basic)
        if realm.method == .basic, user.contains(":") {
            throw arguments.error("a user's name cannot have a colon in it")
        }
        let isProxy = try arguments.yesOrNo("proxy") ?? false
        do throws(ExplanationError) {
            space = realm.space(of: try Origin(url: url, isProxy: isProxy))
        } catch { throw arguments.error(error.sentence) }
        self.user = user
    }
}
