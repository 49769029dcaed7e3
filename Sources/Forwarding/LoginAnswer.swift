/// The field by which a client's own login is answered, in the response to its request.
public struct LoginAnswer {
    public let name: StaticString
    public let value: String

    public init(name: StaticString, value: String) {
        self.name = name
        self.value = value
    }
}
