"""Reads manifests for Kubernetes and says what is wrong with them: fields that their kind does not have (a cluster drops them
without a word), names that lead nowhere, and what Pod Security refuses in a namespace that is "restricted".

    manifest.py < manifest

The tables have the fields that our manifests use, as the API reference of Kubernetes 1.29 and the Prometheus Operator's
definition of ServiceMonitor (monitoring.coreos.com/v1) have them; a field that is new to a manifest is added here, too.
"""

import ipaddress
import sys

import yaml


class Map:
    """Names that people choose, with values of one kind."""

    def __init__(self, of=str):
        self.of = of


probe = {
    "exec": {"command": [str]},
    "httpGet": {"path": str, "port": (str, int)},
    "periodSeconds": int,
    "timeoutSeconds": int,
    "failureThreshold": int,
}
security = {
    "runAsUser": int,
    "runAsGroup": int,
    "runAsNonRoot": bool,
    "readOnlyRootFilesystem": bool,
    "allowPrivilegeEscalation": bool,
    "capabilities": {"drop": [str]},
}
container = {
    "name": str,
    "image": str,
    "restartPolicy": str,
    "args": [str],
    "env": [{"name": str, "value": str, "valueFrom": {"secretKeyRef": {"name": str, "key": str}}}],
    "ports": [{"name": str, "containerPort": int}],
    "startupProbe": probe,
    "livenessProbe": probe,
    "readinessProbe": probe,
    "resources": {"requests": Map(), "limits": Map()},
    "securityContext": security,
    "volumeMounts": [{"name": str, "mountPath": str, "readOnly": bool}],
}
selector = {"matchLabels": Map()}
volume = {
    "name": str,
    "configMap": {"name": str},
    "projected": {"defaultMode": int, "sources": [{"secret": {"name": str}}]},
    "emptyDir": {"sizeLimit": str},
}
pod = {
    "automountServiceAccountToken": bool,
    "terminationGracePeriodSeconds": int,
    "securityContext": {
        "runAsNonRoot": bool,
        "runAsUser": int,
        "runAsGroup": int,
        "fsGroup": int,
        "seccompProfile": {"type": str},
    },
    "topologySpreadConstraints": [
        {"maxSkew": int, "topologyKey": str, "whenUnsatisfiable": str, "labelSelector": selector}
    ],
    "initContainers": [container],
    "containers": [container],
    "volumes": [volume],
}
metadata = {"name": str, "namespace": str, "labels": Map()}
policy_port = {"protocol": str, "port": int}
kinds = {
    ("v1", "ConfigMap"): {"data": Map()},
    ("v1", "Service"): {
        "spec": {"selector": Map(), "ports": [{"name": str, "port": int, "targetPort": (str, int)}]},
    },
    ("apps/v1", "Deployment"): {
        "spec": {
            "replicas": int,
            "selector": selector,
            "strategy": {"rollingUpdate": {"maxUnavailable": int, "maxSurge": int}},
            "template": {"metadata": {"labels": Map()}, "spec": pod},
        },
    },
    ("policy/v1", "PodDisruptionBudget"): {"spec": {"maxUnavailable": int, "selector": selector}},
    ("autoscaling/v2", "HorizontalPodAutoscaler"): {
        "spec": {
            "scaleTargetRef": {"apiVersion": str, "kind": str, "name": str},
            "minReplicas": int,
            "maxReplicas": int,
            "metrics": [
                {"type": str, "resource": {"name": str, "target": {"type": str, "averageUtilization": int}}}
            ],
        },
    },
    ("networking.k8s.io/v1", "NetworkPolicy"): {
        "spec": {
            "podSelector": selector,
            "policyTypes": [str],
            "ingress": [
                {"from": [{"podSelector": selector, "namespaceSelector": selector}], "ports": [policy_port]}
            ],
            "egress": [
                {
                    "to": [
                        {
                            "podSelector": selector,
                            "namespaceSelector": selector,
                            "ipBlock": {"cidr": str, "except": [str]},
                        }
                    ],
                    "ports": [policy_port],
                }
            ],
        },
    },
    ("monitoring.coreos.com/v1", "ServiceMonitor"): {
        "spec": {
            "selector": selector,
            "endpoints": [
                {
                    "port": str,
                    "path": str,
                    "interval": str,
                    "authorization": {"credentials": {"name": str, "key": str}},
                }
            ],
        },
    },
}
faults = []


def compare(value, shape, path):
    if isinstance(shape, Map):
        if not isinstance(value, dict):
            faults.append(f"{path} is no map")
            return
        for key, part in value.items():
            compare(part, shape.of, f"{path}.{key}")
    elif isinstance(shape, dict):
        if not isinstance(value, dict):
            faults.append(f"{path} has no fields")
            return
        for key, part in value.items():
            if key in shape:
                compare(part, shape[key], f"{path}.{key}")
            else:
                faults.append(f"{path} has no field {key}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            faults.append(f"{path} is no list")
            return
        for number, part in enumerate(value):
            compare(part, shape[0], f"{path}[{number}]")
    elif not isinstance(value, shape) or (isinstance(value, bool) and shape is int):
        faults.append(f"{path} is {value!r}")


def expect(holds, sentence):
    if not holds:
        faults.append(sentence)


def check_pod(template, configurations):
    spec = template["spec"]
    context = spec["securityContext"]
    expect(context["seccompProfile"]["type"] == "RuntimeDefault", "seccomp is not the runtime's")
    known = {part["name"] for part in spec["volumes"]}
    for part in spec["volumes"]:
        expect(part.get("configMap", {}).get("name") in {None, *configurations}, f"{part} names no ConfigMap")
    for part in spec.get("initContainers", []) + spec["containers"]:
        name, own = part["name"], part["securityContext"]
        expect(own.get("allowPrivilegeEscalation") is False, f"{name} may get privileges")
        expect(own["capabilities"] == {"drop": ["ALL"]}, f"{name} keeps capabilities")
        expect(own.get("runAsNonRoot", context["runAsNonRoot"]) is True, f"{name} may be root")
        expect(own.get("runAsUser", context.get("runAsUser")), f"{name} has no user")
        mounted = {mount["name"] for mount in part["volumeMounts"]}
        expect(mounted <= known, f"{name} mounts {mounted - known}, which is no volume")
        paths = [mount["mountPath"] for mount in part["volumeMounts"]]
        expect(len(paths) == len(set(paths)), f"{name} mounts twice at one place")


documents = list(yaml.safe_load_all(sys.stdin))
for document in documents:
    kind = document["apiVersion"], document["kind"]
    if kind not in kinds:
        faults.append(f"{kind} is unknown")
        continue
    compare(document, {"apiVersion": str, "kind": str, "metadata": metadata, **kinds[kind]}, document["kind"])

if not faults:
    by_kind = {document["kind"]: document for document in documents}
    deployment = by_kind["Deployment"]
    template = deployment["spec"]["template"]
    labels = template["metadata"]["labels"]
    opened = [port for part in template["spec"]["containers"] for port in part.get("ports", [])]
    ports = {port["name"] for port in opened}
    check_pod(template, {document["metadata"]["name"] for document in documents if document["kind"] == "ConfigMap"})
    expect(deployment["spec"]["selector"]["matchLabels"] == labels, "the Deployment does not select its pods")
    if service := by_kind.get("Service"):
        expect(service["spec"]["selector"] == labels, "the Service does not select the pods")
        named = {port["targetPort"] for port in service["spec"]["ports"]}
        expect(named <= ports, f"the Service leads to {named - ports}, which is no port")
    if budget := by_kind.get("PodDisruptionBudget"):
        expect(budget["spec"]["selector"]["matchLabels"] == labels, "the budget is not that of the pods")
    if policy := by_kind.get("NetworkPolicy"):
        expect(policy["spec"]["podSelector"]["matchLabels"] == labels, "the policy is not that of the pods")
        let_in = {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}
        expect(let_in == {port["containerPort"] for port in opened}, "the policy is not about the pods' ports")
        for to in [to for rule in policy["spec"]["egress"] for to in rule["to"] if "ipBlock" in to]:
            block = ipaddress.ip_network(to["ipBlock"]["cidr"])
            for inside in map(ipaddress.ip_network, to["ipBlock"].get("except", [])):
                expect(inside != block and inside.subnet_of(block), f"the policy excepts {inside} from {block}")
    if scaler := by_kind.get("HorizontalPodAutoscaler"):
        target = scaler["spec"]["scaleTargetRef"]
        scaled = {"apiVersion": deployment["apiVersion"], "kind": "Deployment", "name": deployment["metadata"]["name"]}
        expect(target == scaled, "the scaler does not scale the Deployment")
    if monitor := by_kind.get("ServiceMonitor"):
        wanted = monitor["spec"]["selector"]["matchLabels"]
        expect(wanted.items() <= service["metadata"]["labels"].items(), "the monitor does not find the Service")
        asked = {endpoint["port"] for endpoint in monitor["spec"]["endpoints"]}
        expect(asked <= {port["name"] for port in service["spec"]["ports"]}, "the monitor asks a port that is none")

for sentence in faults:
    print(sentence)
sys.exit(bool(faults))
