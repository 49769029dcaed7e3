"""Puts a manifest of `attache deploy kubernetes` into the words of `podman kube play`, and fills in what a person edits.

    as_played.py LAB REPLICAS < manifest > played

Edited as in any cluster: the images, the command of the application, and in the rules the authority of the servers.
Put in other words, since podman does not know them: a sidecar (an init container that goes on) is a container, projected
secrets are a folder of this machine, and each replica has a name and volumes of its own. Ports that are only named are left
out, and names of servers are written down (`pods` gives them their addresses). All else stays as it is.
"""

import copy
import sys

import yaml

lab, replicas = sys.argv[1], int(sys.argv[2])
images = {"attache:latest": "localhost/attache:latest", "registry.example.com/app:latest": "localhost/debian-base"}
root = 'challenge "our own root" { host *.example.com; anchor /etc/attache/root.pem; trust }\n'


def edited(container):
    container["image"] = images[container["image"]]
    # To podman they are ports of this machine, of which there is one.
    container.pop("ports", None)
    if container["name"] == "app":
        container["command"] = ["sleep", "infinity"]
        container.setdefault("volumeMounts", []).append({"name": "usr", "mountPath": "/usr", "readOnly": True})
    return container


def folder(volume, path):
    return {"name": volume, "hostPath": {"path": path, "type": "Directory"}}


def pods(deployment):
    """One for each replica, with volumes of its own."""
    for number in range(replicas):
        part = copy.deepcopy(deployment)
        part["metadata"]["name"] += f"-{number}"
        part["spec"]["replicas"] = 1
        template = part["spec"]["template"]
        # Kept when it has ended, or podman would wait 20 seconds for what is gone.
        kept = {"io.podman.annotations.init.container.type": "always"}
        part["metadata"]["annotations"] = template["metadata"]["annotations"] = kept
        pod = template["spec"]
        pod["hostAliases"] = [
            {"ip": "10.89.0.10", "hostnames": ["ci.example.com", "two.example.com"]},
            {"ip": "10.89.0.11", "hostnames": ["postgresql"]},
        ]
        # Podman would start what has ended well, too.
        pod["restartPolicy"] = "Never"
        first = pod.get("initContainers", [])
        sidecars = [c for c in first if c.pop("restartPolicy", None) == "Always"]
        pod["initContainers"] = [edited(c) for c in first if c not in sidecars]
        pod["containers"] = [edited(c) for c in sidecars + pod["containers"]]
        volumes = []
        for volume in pod["volumes"]:
            if "projected" in volume:
                volume = folder(volume["name"], f"{lab}/secrets")
            elif "configMap" in volume:
                volume["configMap"]["name"] += f"-{number}"
            elif "emptyDir" in volume:
                name = volume["name"]
                volume = {"name": f"{name}-{number}", "emptyDir": {}}
                for container in pod["initContainers"] + pod["containers"]:
                    for mount in container.get("volumeMounts", []):
                        if mount["name"] == name:
                            mount["name"] = volume["name"]
            volumes.append(volume)
        if any(c["name"] == "app" for c in pod["containers"]):
            volumes.append(folder("usr", "/usr"))
        pod["volumes"] = volumes
        yield part


played = []
for document in yaml.safe_load_all(sys.stdin):
    if document["kind"] == "Deployment":
        played += pods(document)
    elif document["kind"] == "ConfigMap":
        document["data"]["proxy.conf"] += root
        with open(f"{lab}/rules/root.pem") as file:
            document["data"]["root.pem"] = file.read()
        # Podman makes a volume of it, and writes it again for each pod, while those before are already reading it.
        for number in range(replicas):
            part = copy.deepcopy(document)
            part["metadata"]["name"] += f"-{number}"
            played.append(part)
    else:
        played.append(document)
print(yaml.safe_dump_all(played, sort_keys=False))
