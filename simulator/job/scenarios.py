"""Jobs by name: what is planted in each."""

from __future__ import annotations

from simulator.job import dualpipe, experts, pipeline
from simulator.job.layout import Layout
from simulator.job.program import Extra, Size
from simulator.job.roles import RolesProgram
from simulator.job.simulation import SimulatedJob

BRIEF = Size(layers=2, microbatches=1, buckets=2)
HYBRID = Layout(tp=2, dp=4)
PIPELINE = Layout(tp=2, dp=2, pp=2)

STAGES = Layout(tp=1, dp=1, pp=4, joined=False, two_ways=True)
BOTH_ENDS = Layout(tp=1, dp=1, pp=4, joined=False, both_ends=True)
BLOCKS = Size(2, 8, 1)

JOBS = {
    #: nothing: chance only
    "balanced": SimulatedJob(HYBRID, BRIEF),
    #: a rank's Python works on its batch: its neighbour in the tensor group is late for the data group
    "late": SimulatedJob(HYBRID, BRIEF, extra={5: Extra(python_ms=4.0)}),
    #: a rank waits for its data loader, in two of three steps
    "loader": SimulatedJob(
        Layout(tp=1, dp=4), BRIEF, extra={2: Extra(loader_ms=5.0, steps=frozenset({0, 2}))}
    ),
    #: two late ranks in different steps
    "both": SimulatedJob(
        HYBRID,
        BRIEF,
        extra={
            1: Extra(computing=1.5, steps=frozenset({0, 2})),
            6: Extra(python_ms=6.0, steps=frozenset({1})),
        },
    ),
    #: a link of a tensor group
    "link": SimulatedJob(HYBRID, BRIEF, slow={frozenset({2, 3}): 8.0}),
    #: a stage of a pipeline with more work
    "stage": SimulatedJob(
        PIPELINE, Size(2, 2, 1), extra={rank: Extra(computing=1.6) for rank in (4, 5, 6, 7)}
    ),
    #: the same where stages only send and receive: nothing aligns their clocks
    "sends": SimulatedJob(
        Layout(tp=2, dp=2, pp=2, joined=False),
        Size(2, 2, 1),
        extra={rank: Extra(computing=1.6) for rank in (4, 5, 6, 7)},
    ),
    #: the late rank is there, others are not
    "partial": SimulatedJob(HYBRID, BRIEF, extra={5: Extra(python_ms=4.0)}, missing=frozenset({0, 3, 6})),
    #: the late rank is missing
    "absent": SimulatedJob(
        Layout(tp=1, dp=4), BRIEF, extra={2: Extra(python_ms=4.0)}, missing=frozenset({2})
    ),
    #: pipelines of four stages: their schedules
    "pipeline-1f1b": SimulatedJob(STAGES, BLOCKS, program=pipeline.PipelineProgram),
    "pipeline-gpipe": SimulatedJob(STAGES, BLOCKS, program=pipeline.GPipeProgram),
    "pipeline-interleaved": SimulatedJob(STAGES, BLOCKS, program=pipeline.InterleavedProgram),
    #: micro-batches that enter at both ends
    "pipeline-dualpipe": SimulatedJob(BOTH_ENDS, BLOCKS, program=dualpipe.DualPipeProgram),
    #: a stage with more work
    "pipeline-uneven": SimulatedJob(
        STAGES, BLOCKS, extra={2: Extra(computing=1.4)}, program=pipeline.PipelineProgram
    ),
    #: roles of reinforcement learning, of which one rank generates longer
    "roles": SimulatedJob(
        Layout(tp=1, dp=4), Size(3, 1, 1), extra={2: Extra(computing=3.0)}, program=RolesProgram
    ),
    #: a mixture of experts whose tokens are spread in eight ways
    **{
        f"experts-{name}": SimulatedJob(
            Layout(tp=1, dp=experts.RANKS),
            Size(2, 1, 1),
            extra=dict.fromkeys(range(experts.RANKS), Extra(workload=name)) if name != "W0" else {},
            program=experts.ExpertsProgram,
            steps=4,  # what changes does so with the fourth
        )
        for name in experts.WORKLOADS
    },
    #: four hosts
    "hosts": SimulatedJob(HYBRID, BRIEF, hosts=4, extra={3: Extra(python_ms=4.0)}),
}
