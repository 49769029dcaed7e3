import IO

/// Reports the state of this process to the service manager, if there is one.
enum Supervision {
    private static let manager = ServiceManager(socket: Environment.value(of: "NOTIFY_SOCKET"))

    static func tell(_ state: ServiceManager.State) {
        do throws(IOError) { try manager?.tell(state) } catch { Console.error("\(error)") }
    }
}
