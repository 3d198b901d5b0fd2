"""The pod template of a template: its permitted fields are in the pod, and the operator's own fields take precedence."""

from harness import wait_for
from surroundings import Source
from world import ALICE, APP, IMAGES, World

POLICY = {"SERVICE_POD_TEMPLATE_ALLOW": "secret/course-token,toleration/example.org/*,resource/*"}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "course-token"},
    "stringData": {"token": "swordfish"},
}
TOLERATION = {"key": "example.org/gpu", "operator": "Exists", "effect": "NoSchedule"}
POD_TEMPLATE = {
    "spec": {
        "volumes": [
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}},
            {"name": "keys", "secret": {"secretName": "course-token"}},
        ],
        "containers": [
            {
                "name": "app",
                "env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "course-token", "key": "token"}}}],
                "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
            }
        ],
        "initContainers": [
            {
                "name": "check",
                "image": APP["image"],
                "args": ["read", "/keys/token"],
                "volumeMounts": [{"name": "keys", "mountPath": "/keys"}],
            }
        ],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [TOLERATION],
        "securityContext": {"supplementalGroups": [4321]},
    }
}


def by_hand(world, pod_template):
    """Creates a Workshop with this pod template without the launcher. Returns its status once the operator sets it."""
    resources = {"cpuRequest": "5m", "cpuLimit": "1", "memoryRequest": "16Mi", "memoryLimit": "64Mi"}
    spec = {
        "owner": ALICE,
        "image": f"{IMAGES}/http:test",
        "appType": "custom",
        "port": 8888,
        "resources": resources,
        "securityProfile": "restricted",
        "lifetimeSeconds": 600,
        "podTemplate": pod_template,
    }
    world.apply(
        {"apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "metadata": {"name": "hand"}, "spec": spec}
    )
    wait_for("the operator to examine the Workshop", lambda: world.workshop("hand").get("status", {}).get("phase"), 30)
    return world.workshop("hand")["status"]


def test_pod_template_reaches_the_pod_and_never_what_the_operator_owns():
    with World("pod-template", processes=False) as world:
        world.launcher, world.operator = world.new_launcher(**POLICY), world.new_operator(**POLICY)
        world.operator.start()
        for spec, place in [
            ({"hostNetwork": True}, "/spec/hostNetwork: "),
            ({"volumes": [{"name": "a", "hostPath": {"path": "/"}}]}, "/spec/volumes/0/hostPath: "),
            ({"tolerations": [{"operator": "Exists"}]}, "/spec/tolerations/0: needs the entry toleration/* "),
        ]:
            status = by_hand(world, {"spec": spec})
            assert (status["phase"], status["reason"]) == ("Failed", "invalid-spec"), status
            assert place in status["message"], status
            assert world.workload("hand") == []
            world.kubectl("delete", "workshop", "hand")

        world.launcher.start()
        body = APP | {"pod_template": {"spec": {"hostPID": True}}}
        status, _, problem = world.launcher.request("POST", "/templates/", body=body)
        assert (status, problem["errors"][0]["pointer"]) == (422, "/pod_template/spec/hostPID")

        world.apply(SECRET)
        name = world.running(ALICE, pod_template=POD_TEMPLATE)
        pod = world.pod(name)
        spec = pod["spec"]
        assert spec["nodeSelector"] == {"kubernetes.io/os": "linux"}
        assert TOLERATION in spec["tolerations"]
        app = Source(world.namespace, pod["metadata"]["name"])
        assert "TOKEN=swordfish" in app.run(world, "read", "/proc/self/environ")
        [shm] = [line for line in app.run(world, "read", "/proc/self/mounts").splitlines() if " /dev/shm " in line]
        assert "size=16384k" in shm, shm
        assert "4321" in app.run(world, "read", "/proc/self/status").split("Groups:")[1].splitlines()[0]
        [checked] = [one for one in pod["status"]["initContainerStatuses"] if one["name"] == "check"]
        assert checked["state"]["terminated"]["exitCode"] == 0
        assert world.visit(name, ALICE)[0] == 200 and world.visit(name)[0] == 403
