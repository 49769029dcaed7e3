/// The field by which a client's own login is answered, in the response to its request.
struct LoginAnswer {
    let name: StaticString
    let value: String
}
