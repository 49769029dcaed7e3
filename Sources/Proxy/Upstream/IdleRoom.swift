/// How many connections one loop may still keep unused, over all its origins: each is a descriptor that a client may
/// need.
final class IdleRoom {
    var places: Int

    init(places: Int) { self.places = places }
}
