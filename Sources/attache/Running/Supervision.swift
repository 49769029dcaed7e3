import IO

/// Tells the service manager of this process, if it has one, how far it is.
enum Supervision {
    private static let manager = ServiceManager(socket: Environment.value(of: "NOTIFY_SOCKET"))

    static func tell(_ state: ServiceManager.State) {
        do throws(IOError) { try manager?.tell(state) } catch { Console.error("\(error)") }
    }
}
