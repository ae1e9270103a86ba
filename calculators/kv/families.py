"""Where in a config the generating decoder stands, and which models have none.

Everything that can be read from fields is; the names here are of models whose config does not
say that they are encoders.
"""

import re

from calculators.form.errors import ParameterError, excerpt
from calculators.kv.attention import HEADS
from calculators.kv.defaults import NESTED
from calculators.kv.facts import FIELD, Facts
from calculators.kv.patterns import LAYER_COUNT

NESTS = (
    "text_config", "llm_config", "language_config", "thinker_config", "decoder_config", "decoder",
    "generator", "language_model", "text_model_config", "model_config",
)  # fmt: skip
OFTEN_TEXT = {"decoder", "generator", "language_model"}  # names of files or classes elsewhere
SHAPED = (*LAYER_COUNT, "layer_types", "layers_block_type", "hybrid_override_pattern")
# Keys of what sees or hears; with no vocabulary beside them there is nothing that generates text.
SENSES = (
    "patch_size", "image_size", "num_channels", "num_mel_bins", "vision_config", "backbone_config",
    "audio_config", "conv_stride", "embed_dims", "depths", "hop_length", "sampling_rate",
    "prediction_length", "backbone", "feature_size",
)  # fmt: skip
ENCODERS = re.compile(
    r"(albert|bert|bert-generation|big_bird|bros|camembert|canine|convbert|data2vec-.*|deberta"
    r"|deberta-v2|distilbert|dpr|electra|ernie|ernie_m|esm|esmc|eurobert|flaubert|fnet|funnel|gte"
    r"|ibert|jina_.*|layoutlm.*|layoutxlm|lilt|longformer|luke|lxmert|markuplm|megatron-bert"
    r"|mobilebert|modernbert|mpnet|mra|nezha|nomic_bert|nystromformer|perceiver|qdqbert|rembert"
    r"|roberta|roberta-prelayernorm|roc_bert|roformer|splinter|squeezebert|tapas|tvp|vilt|visual_bert"
    r"|xlm|xlm-roberta|xlm-roberta-xl|xmod|yoso|vits|wav2vec2.*|wavlm|hubert|sew|sew-d|unispeech.*"
    r"|.*_ctc|.*_encoder|.*grounding-dino|omdet-turbo|beit|flava.*|ultrav?bert|embedding_gemma.*|openai_privacy_filter|neomme|lightglue|timesfm.*"
    r"|neucodec|nemotron3_5_transcribe.*|jev"
    r"|(aimv2|align|altclip|chinese_clip|clap|clip|clipseg|flava|groupvit|metaclip_2|owlv2|owlvit"
    r"|siglip|siglip2|xclip|tipsv2|videoprism|sam3_lite_text|bridgetower)(_text|_text_text)?(_model)?)"
)
# Towers and adapters of a larger model, when such a part is all there is.
PARTS = re.compile(
    r".*_(qformer|vision|vision_model|audio|dit|mask_decoder|detr_decoder|diffusion)"
)
# Whose layers keep something that none of the kinds of ``layers`` is: hashed or recurrent memories,
# bytes and patches with a cache each.
OTHER_MEMORIES = re.compile(r"reformer|xlnet|transfo-xl|blt(_.*)?")
# Keys of layers that run more than once for a token, with a cache for every pass.
LOOPS = ("n_recurrent_loops", "loop_num_passes")
# Two attention blocks in every layer (transformers models/longcat_flash/modeling_longcat_flash.py).
TWO_ATTENTIONS = re.compile(r"longcat_flash.*")
ENCODER_ARCHITECTURE = re.compile(r".*For(MaskedLM|CTC|ImageClassification|TokenClassification)")


def decoder_of(facts: Facts) -> Facts:
    """The object that describes the text decoder: the outermost one that has layers, or inside."""
    for name in NESTS:
        if name in OFTEN_TEXT and not facts.holds(dict, name):
            continue
        child = facts.child(name)
        if child is None:
            continue
        if (
            (left_to_class(child) and not facts.has(*SHAPED))
            or child.has(*SHAPED)
            or any(child.has(n) for n in NESTS)
        ):
            return decoder_of(child)
    return facts


def left_to_class(nested: Facts) -> bool:
    """Whether a nested config's class has defaults for whatever it does not state."""
    return str(nested.tree.get("model_type")) in NESTED


def refuse_encoders(facts: Facts, decoder: Facts) -> None:
    """ParameterError ``no_decoder`` for a model that generates nothing, with its type's name."""
    names = [place.text("model_type") or "" for place in (facts, decoder)]
    generates = decoder.flag("is_decoder") or facts.flag("is_encoder_decoder")
    listed = facts.items("architectures") if facts.holds(list, "architectures") else None
    architectures = [str(name) for name in listed or []]
    encodes = [name for name in names if ENCODERS.fullmatch(name)]
    encodes += [name for name in names[1:] if PARTS.fullmatch(name)]
    encodes += [name for name in architectures if ENCODER_ARCHITECTURE.fullmatch(name)]
    if encodes and not generates:
        raise ParameterError(FIELD, "no_decoder", text=excerpt(encodes[0]))
    senses = decoder.has(*SENSES) and not decoder.has("vocab_size")
    by_default = decoder is not facts and left_to_class(decoder)
    if senses or not (by_default or decoder.has(*SHAPED, *HEADS, "block_configs")):
        shown = names[1] or names[0] or ", ".join(list(facts.tree)[:4]) or "{}"
        raise ParameterError(FIELD, "no_decoder", text=excerpt(shown))


def refuse_other_memories(decoder: Facts, model_type: str) -> None:
    """ParameterError ``layer_kind`` for what is cached in a way that has no kind here."""
    if OTHER_MEMORIES.fullmatch(model_type):
        raise ParameterError(FIELD, "layer_kind", key="model_type", text=model_type)
    for name, kind in (
        *((name, "looped layers") for name in LOOPS),
        ("compress_ratios", "compressed attention"),
    ):
        if decoder.has(name):
            raise ParameterError(FIELD, "layer_kind", key=decoder.path + name, text=kind)


def crosses(facts: Facts, decoder: Facts) -> bool:
    """Whether every decoder layer also attends to an encoder's output."""
    return bool(
        decoder.flag("add_cross_attention")
        or facts.flag("is_encoder_decoder")
        or decoder.flag("is_encoder_decoder")
    )
