"""The arguments of a model's operations: the providers' own names, those that are known. Streams are for tunnelled exchanges."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Model = Annotated[str, Field(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=1)]
Options = dict[str, Any]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Chat(_Arguments):
    """OpenAI's chat completions."""

    model: Model
    messages: Annotated[list[Options], Field(min_length=1)]
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    tools: list[Options] | None = None
    tool_choice: str | Options | None = None
    response_format: Options | None = None
    reasoning_effort: str | None = None


class Responses(_Arguments):
    """OpenAI's responses."""

    model: Model
    input: str | list[Options]
    instructions: str | None = None
    max_output_tokens: Count | None = None
    temperature: float | None = None
    top_p: float | None = None
    tools: list[Options] | None = None
    tool_choice: str | Options | None = None
    text: Options | None = None
    reasoning: Options | None = None
    previous_response_id: str | None = None


class Embeddings(_Arguments):
    model: Model
    input: str | list[str]
    dimensions: Count | None = None
    encoding_format: str | None = None


class Messages(_Arguments):
    """Anthropic's messages."""

    model: Model
    messages: Annotated[list[Options], Field(min_length=1)]
    max_tokens: Count
    system: str | list[Options] | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: list[str] | None = None
    tools: list[Options] | None = None
    tool_choice: Options | None = None
    thinking: Options | None = None


class CountTokens(_Arguments):
    model: Model
    messages: Annotated[list[Options], Field(min_length=1)]
    system: str | list[Options] | None = None
    tools: list[Options] | None = None


class Models(_Arguments):
    """None: all models are listed."""
